/**
 * The English texts that the payment window and the vault's page share. The last ones have the names of the codes with which
 * a shop's request is refused.
 */

export default {
  "sheet.payee": "Payee",
  "sheet.trust.verified": "The chain confirms that this account belongs to the DID. It does not say who that is.",
  "sheet.trust.unproven":
    "Not verified: the chain names this account, but nothing proves who registered the DID. Compare the address with the payee’s.",
  "sheet.trust.address": "An address without a verified identity. Compare every character with the payee’s.",
  "sheet.known": "You have paid this payee from this browser before.",
  "sheet.new": "You have not paid this payee from this browser before.",
  "sheet.alike": "Careful: this address begins and ends like one that you paid before, but it is another one.",
  "sheet.chain": "Chain",
  "sheet.fee": "Network fee",
  "sheet.fee.sponsored": "Paid by a sponsor (free for you)",
  "sheet.fee.own": "At most {fee}, from your account",
  insufficient_fee: "No sponsor pays the network fee. For this payment your account needs {need}; it has {have}.",
  insufficient_balance: "You have {have}; you need {need}.",
  payee_unregistered: "The payee’s DID is not registered, or not active.",
  payee_unverified: "The chain does not confirm the account of the payee’s DID.",
  chain_failed: "The payment was mined and failed. Nothing reached the payee.",
};
