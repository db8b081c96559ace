/** The German texts that the payment window and the vault's page share. */

const de: typeof import("../en/sheet.ts").default = {
  "sheet.payee": "Empfänger",
  "sheet.trust.verified": "Die Chain bestätigt, dass dieses Konto zu der DID gehört. Wer das ist, sagt sie nicht.",
  "sheet.trust.unproven":
    "Nicht geprüft: Die Chain nennt dieses Konto, aber nichts belegt, wer die DID registriert hat. Vergleichen Sie die Adresse mit der des Empfängers.",
  "sheet.trust.address": "Eine Adresse ohne geprüfte Identität. Vergleichen Sie jedes Zeichen mit der des Empfängers.",
  "sheet.known": "An diesen Empfänger haben Sie aus diesem Browser schon gezahlt.",
  "sheet.new": "An diesen Empfänger haben Sie aus diesem Browser noch nicht gezahlt.",
  "sheet.alike":
    "Vorsicht: Diese Adresse beginnt und endet wie eine, an die Sie schon gezahlt haben, ist aber eine andere.",
  "sheet.chain": "Chain",
  "sheet.fee": "Netzgebühr",
  "sheet.fee.sponsored": "Zahlt ein Sponsor (für Sie kostenlos)",
  "sheet.fee.own": "Höchstens {fee}, von Ihrem Konto",
  insufficient_fee: "Kein Sponsor zahlt die Netzgebühr. Für diese Zahlung braucht Ihr Konto {need}; es hat {have}.",
  insufficient_balance: "Sie haben {have}; Sie brauchen {need}.",
  payee_unregistered: "Die DID des Empfängers ist nicht registriert oder nicht aktiv.",
  payee_unverified: "Die Chain bestätigt das Konto zur DID des Empfängers nicht.",
  chain_failed: "Die Zahlung wurde ausgeführt und ist gescheitert. Beim Empfänger ist nichts angekommen.",
};

export default de;
