/** What shops are told. */

/**
 * Messages for shops, always in English, because shops log them. No message for a shop contains the person's balance.
 */
export const FOR_SHOPS = /** @type {Record<string, string>} */ ({
  user_cancelled: "The person cancelled. Nothing was paid.",
  bad_request: "The request's data is not a payment: it needs to, amount, token and chainId. Nothing was paid.",
  amount_mismatch: "The request's total and its data state two different amounts. Nothing was paid.",
  wrong_chain: "The person's account is on another chain. Nothing was paid.",
  no_vault: "The person has no vault in this browser. Nothing was paid.",
  vault_locked: "The person's vault stayed locked. Nothing was paid.",
  insufficient_balance: "The person's account cannot pay the amount and its fee. Nothing was paid.",
  limit_exceeded: "The payment is over the limit of the delegation. Nothing was paid.",
  delegation_expired: "The delegation has expired. Nothing was paid.",
  delegation_refused: "The delegation does not allow the payment. Nothing was paid.",
  payee_unregistered: "The payee's DID is not registered, or not active. Nothing was paid.",
  payee_unverified: "The chain does not confirm the account of the payee's DID. Nothing was paid.",
  chain_rejected: "The network refused the payment. Nothing was paid.",
  not_configured: "The service cannot send payments. Nothing was paid.",
  too_many: "The service takes no more payments from the person's network for now. Nothing was paid.",
  network: "The service could not be reached. Nothing was paid.",
  unconfirmed: "The payment was sent and is not confirmed yet. Watch the payee's account before asking again.",
  internal: "The payment page failed. Nothing was paid.",
});
