/** Adds the texts of these screens, which only they need. */

import de from "../../texts/de/keys.ts";
import en from "../../texts/en/keys.ts";
import { addTexts } from "../parts/language.ts";

addTexts({ en, de });
