/** Makes this browser offer Holdfast when a shop requests the payment method `<service>/pay`. */

import { ownAddress } from "../http/service.js";
import { passScript, scriptAddress } from "../trusted.js";

/**
 * Registers the payment worker. The page must have the service's own origin, because service workers require it.
 *
 * @param {Omit<import("../generated/types.js").PaymentHandlerOptions, "swUrl"> &
 *   {swUrl?: import("../trusted.js").ScriptAddress}} [options] `swUrl` may be the application's own TrustedScriptURL
 * @returns {Promise<import("../generated/types.js").PaymentHandlerRegistration>} `error` says why it failed; never throws
 */
export async function registerPaymentHandler({
  swUrl = "/pay/sw.js",
  scope = "/pay/",
  methodUrl = `${ownAddress()}/pay`,
} = {}) {
  try {
    if (!("serviceWorker" in navigator)) throw new Error("this browser has no service workers");
    await checkMethod(methodUrl);
    passScript(new URL("/pay/sw.js", location.href));
    const options = { scope, updateViaCache: /** @type {const} */ ("none") };
    const registration = await navigator.serviceWorker.register(scriptAddress(swUrl), options);
    if (!("paymentManager" in registration)) throw new Error("this browser has no payment handlers");
    return { success: true, scope: new URL(registration.scope).pathname };
  } catch (error) {
    return { success: false, scope, error: error instanceof Error ? error.message : String(error) };
  }
}

/** @param {string} methodUrl */
async function checkMethod(methodUrl) {
  const { ok, status } = await fetch(methodUrl, { method: "HEAD", credentials: "omit" });
  if (!ok) throw new Error(`the payment method ${methodUrl} answered ${status}`);
}
