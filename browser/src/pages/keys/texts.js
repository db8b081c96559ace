/** Adds the texts of these screens, which only they need. */

import de from "../../texts/de/keys.js";
import en from "../../texts/en/keys.js";
import { addTexts } from "../parts/language.js";

addTexts({ en, de });
