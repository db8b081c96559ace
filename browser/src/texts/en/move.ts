/** The texts of moving to another service, in English. {name} is replaced with a value. */

export default {
  "move.heading": "Move to another service",
  "move.lead":
    "Take your vault, your name and a new passkey to another service, or to this one under its new address. Your identity and your account stay.",
  "move.host": "Address of the new service",
  "move.host.hint": "Type it yourself, for example new.example. A link that someone sent you may lead to a copy.",
  "move.host.bad": "Type an address that begins with https://, without anything after the name.",
  "move.unreachable": "{host} cannot be reached, or this device is offline. Nothing has changed.",
  "move.check": "Check this service",
  "move.checking": "Asking the new service.",
  "move.review": "Move to {host}",
  "move.name": "Name",
  "move.did": "Identity (stays)",
  "move.from": "From",
  "move.to": "To",
  "move.steps":
    "A window of {host} opens, in which you make a passkey for it. Then your vault is copied there and read back. Only after that {from} gives up your name.",
  "move.again": "Type {host} once more",
  "move.again.bad": "That is not {host}.",
  "move.code": "Code that {host} sent to {identifier}",
  "move.owner": "The new passkey also becomes a key of your account, with which it can pay even without your vault",
  "move.begin": "Move",
  "move.waiting": "Go on in the window of {host}.",
  "move.signed": "The new passkey has signed.",
  "move.copied": "Your vault’s copy was read back and opened.",
  "move.owned": "The new passkey is a key of your account.",
  "move.former": "Remove the old passkey from your account?",
  "move.former.text":
    "The new passkey has signed. The old one is a key of your account too, and can pay from it. The move goes on either way.",
  "move.former.end": "Remove the old passkey",
  "move.former.keep": "Keep the old passkey",
  "move.closed": "The window of {host} was closed. Nothing was moved. Begin again when you like.",
  "move.blocked": "The browser did not open the window. Allow windows for this page, then press the button again.",
  "move.done": "You have moved",
  "move.done.text":
    "{identifier} is at {host} now. Open your vault there with the new passkey. What this browser has of the vault stays until you remove it.",
  "move.done.owner":
    "The new passkey is not a key of your account. You can add it there, under “Keys of your account”.",
  "move.done.missing":
    "Not on {chains} yet: there, the old passkey can pay as before, and the new one cannot. Press “Bring all changes to every chain” under “Keys of your account”.",
  "move.done.behind": "Still here: {names}.",
  "move.done.open": "Open {host}",
  "move.make": "A passkey for your move",
  "move.make.asker": "The page that opened this window",
  "move.make.text":
    "{origin} wants to move the vault of “{name}” to {host}. Go on only if you began this on {origin} yourself. Otherwise close this window.",
  "move.make.do": "Make a passkey for {host}",
  "move.make.done": "Done. Go back to {origin}.",
  "move.make.none": "No page has asked for a passkey here. You can close this window.",
  "move.refused.same_service": "You are at this service already.",
  "move.refused.insecure_service": "That address is not protected by https.",
  "move.refused.other_service": "The service at that address says that it is another one. Do not go on.",
  "move.refused.other_chain": "That service is on another chain, where your identity is not.",
  "move.refused.other_contracts": "That service has other contracts, where your identity and your account are not.",
  "move.refused.not_registered": "This vault is not registered here, so there is no name to move.",
  "move.refused.name_taken": "Your name belongs to someone else at that service.",
  "move.refused.no_proof": "The new passkey has not signed for the new service. Nothing was moved.",
  "move.refused.other_registration":
    "The new service does not have your name, although it said so. Your name, your passkeys and your vault’s copy here stay.",
  "move.refused.not_owner":
    "Nothing is lost: your name, your passkeys and your vault’s copy stay here. The new passkey may not be a key of your account yet. {reason} Press “Move” again: it goes on from here. Or clear the check box above the button: then it does not become a key of your account.",
  "move.refused.other_copy":
    "The new service did not give your vault’s copy back as it was. Your name, your passkeys and your vault’s copy here stay.",
};
