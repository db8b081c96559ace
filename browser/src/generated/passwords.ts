/** Written by `tools/browser_client.py` from `src/holdfast/client/vault/passwords.py`; not edited by hand. */

/** Common passwords and parts of them, which count as one character. */
export const WORDS = ["password", "passwort", "passw0rd", "p@ssword", "p@ssw0rd", "kennwort", "letmein", "welcome", "willkommen", "iloveyou", "ichliebedich", "changeme", "trustno1", "whatever", "monkey", "dragon", "football", "fussball", "fußball", "baseball", "sunshine", "princess", "superman", "batman", "starwars", "shadow", "michael", "master", "admin", "default", "login", "secret", "geheim", "hello", "hallo", "schatz", "summer", "sommer", "winter", "internet", "computer", "1q2w3e4r", "1qaz2wsx", "qazwsx", "holdfast", "vault", "tresor"];
