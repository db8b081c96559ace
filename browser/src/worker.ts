/** The module worker in which the enclave runs. The worker's messages are listed in vault/protocol.ts. */

import { WorkerSession } from "./vault/session.ts";

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;
const session = new WorkerSession((event) => scope.postMessage({ event }));

scope.onmessage = async ({ data }) => {
  const { reply, transfer } = await session.answer(data);
  scope.postMessage(reply, transfer);
};
