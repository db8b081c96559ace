/** QR codes for the payment window, loaded only when an account has too little. */

export { qrCode } from "../pages/vault/qr.js";
