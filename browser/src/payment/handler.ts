/** Makes this browser offer Holdfast when a shop requests the payment method `<service>/pay`. */

import type { PaymentHandlerOptions, PaymentHandlerRegistration } from "../generated/types.ts";
import { ownAddress } from "../http/service.ts";
import { passScript, scriptAddress, type ScriptAddress } from "../trusted.ts";

/**
 * Registers the payment worker. The page must have the service's own origin, because service workers require it.
 *
 * @param options `swUrl` may be the application's own TrustedScriptURL
 * @returns `error` says why it failed; never throws
 */
export async function registerPaymentHandler({
  swUrl = "/pay/sw.js",
  scope = "/pay/",
  methodUrl = `${ownAddress()}/pay`,
}: Omit<PaymentHandlerOptions, "swUrl"> & { swUrl?: ScriptAddress } = {}): Promise<PaymentHandlerRegistration> {
  try {
    if (!("serviceWorker" in navigator)) throw new Error("this browser has no service workers");
    await checkMethod(methodUrl);
    passScript(new URL("/pay/sw.js", location.href));
    const options = { scope, updateViaCache: "none" as const };
    const registration = await navigator.serviceWorker.register(scriptAddress(swUrl), options);
    if (!("paymentManager" in registration)) throw new Error("this browser has no payment handlers");
    return { success: true, scope: new URL(registration.scope).pathname };
  } catch (error) {
    return { success: false, scope, error: error instanceof Error ? error.message : String(error) };
  }
}

async function checkMethod(methodUrl: string) {
  const { ok, status } = await fetch(methodUrl, { method: "HEAD", credentials: "omit" });
  if (!ok) throw new Error(`the payment method ${methodUrl} answered ${status}`);
}
