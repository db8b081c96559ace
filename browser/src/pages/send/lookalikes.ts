/** Finds out whether a typed payee can be mistaken for another payee. Pure. */

/** Alphabets with letters that look alike. Chinese, Japanese and Korean are not a listed: they are often mixed with Latin. */
const ALPHABETS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Lisu"].map(
  (script) => new RegExp(`\\p{Script=${script}}`, "u"),
);
/**
 * The Latin letters that other letters, digits and pairs of letters are mistaken for (a subset of the confusables in
 * Unicode TR39).
 */
const READ_AS = [
  [/[аɑα]/g, "a"],
  [/[еҽ]/g, "e"],
  [/[оοօ0]/g, "o"],
  [/[рρ]/g, "p"],
  [/[сϲ]/g, "c"],
  [/[уүγ]/g, "y"],
  [/[хχ]/g, "x"],
  [/[іıι1l|!]/g, "i"],
  [/[ѕ5$]/g, "s"],
  [/[јյ]/g, "j"],
  [/[һհ]/g, "h"],
  [/ԁ/g, "d"],
  [/[ԛզ]/g, "q"],
  [/[ԝѡω]/g, "w"],
  [/[νѵ]/g, "v"],
  [/[кκ]/g, "k"],
  [/[тτ]/g, "t"],
  [/[мm]/g, "rn"],
  [/[нη]/g, "n"],
  [/[вβ8]/g, "b"],
  [/vv/g, "w"],
  [/3/g, "e"],
  [/4/g, "a"],
  [/6/g, "b"],
  [/9/g, "g"],
] as [RegExp, string][];
/** How many characters at each end of a hash people are assumed to compare. */
const ENDS = 4;
const WEB = "did:web:";

/** Reasons to check a name or a DID before paying it. */
export interface Doubts {
  /** it has letters of several alphabets, or a host in another alphabet */ foreign: boolean;
  /** the digits 0 and 1 next to letters, which can be read as o and l; empty without any */ digits: string;
  /** an earlier payee that looks the same but differs; empty without one */ alike: string;
}

/**
 * @param to a name or a DID, as it is looked up; addresses are not checked
 * @param paid the payees of earlier payments
 */
export function doubtsAbout(to: string, paid: string[]): Doubts {
  const word = wordIn(to);
  const foreign = /(^|[.:])xn--/.test(word) || ALPHABETS.filter((letters) => letters.test(word)).length > 1;
  const digits = foreign ? [] : (word.match(/(?<=\p{L})[01]|[01](?=\p{L})/gu) ?? []);
  const alike = paid.find((one) => one !== to && asRead(one) === asRead(to)) ?? "";
  return { foreign, digits: [...new Set(digits)].sort().join(", "), alike };
}

/** Returns the part that people read as a word: a name, or the host of a did:web. */
function wordIn(to: string) {
  if (to.startsWith(WEB)) return to.slice(WEB.length);
  return to.startsWith("did:") || to.startsWith("0x") ? "" : to;
}

/** Returns a form that is the same for payees that look alike. */
function asRead(to: string) {
  const word = wordIn(to).toLowerCase().normalize("NFC").replace(/\p{M}/gu, ""); // marks that compose with no letter hardly show
  if (word) return READ_AS.reduce((read, [letters, letter]) => read.replace(letters, letter), word);
  return to.startsWith("did:")
    ? to.replace(/^(did:\w+:(?:0x|z)?)(\w+)$/, (_, head, rest) => `${head}${rest.slice(0, ENDS)} ${rest.slice(-ENDS)}`)
    : to;
}
