// The confirm page: shows what the shop asks for, and tells the worker what the person decided.

const TOKENS = { native: "ETH (native)" };
const CHAINS = { 84532: "Base Sepolia (84532)", 8453: "Base (8453)", 1: "Ethereum (1)" };
const requestId = new URLSearchParams(location.search).get("request") ?? "";
const element = (id) => document.getElementById(id);

function show(request) {
  const { data, total } = request;
  element("total").textContent = `${total.value} ${total.currency}`;
  element("amount").textContent = data.amount ? `${text(data.amount)} (smallest unit)` : "not stated";
  element("label").textContent = text(data.label) ?? "not stated";
  element("payee").textContent = text(data.to) ?? "not stated";
  element("token").textContent = TOKENS[data.token] ?? text(data.token) ?? "not stated";
  element("chain").textContent = CHAINS[data.chainId] ?? text(data.chainId) ?? "not stated";
  element("site").textContent = request.site;
  element("asking").textContent = `${request.site} asks for a payment.`;
  element("request").hidden = false;
  element("notice").hidden = false;
  element("cancel").disabled = false;
  document.querySelector("main").removeAttribute("aria-busy");
  element("cancel").focus({ preventScroll: true });
}

function text(value) {
  return value === undefined || value === null || value === "" ? undefined : String(value).slice(0, 200);
}

function end(sentence) {
  element("outcome").textContent = sentence;
  element("cancel").disabled = true;
  document.querySelector("main").removeAttribute("aria-busy");
}

function cancel() {
  const details = { success: false, error: "cancelled_by_user" };
  navigator.serviceWorker.controller?.postMessage({ type: "settle", request: requestId, details });
  end("Cancelled. Nothing was paid. You can close this window.");
}

navigator.serviceWorker?.addEventListener("message", (event) => {
  if (event.data?.type === "request") show(event.data.request);
  if (event.data?.type === "over" && !element("outcome").textContent) {
    element("asking").textContent = "";
    end("This request is over. Nothing was paid. You can close this window.");
  }
});

element("cancel").addEventListener("click", cancel);
if (navigator.serviceWorker?.controller && requestId) {
  navigator.serviceWorker.controller.postMessage({ type: "ready", request: requestId });
  navigator.serviceWorker.startMessages();
} else {
  element("asking").textContent = "";
  end("No shop asks for a payment. You can close this window.");
}
