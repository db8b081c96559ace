/** Adds the texts of moving, which only its page needs. */

import de from "../../texts/de/move.js";
import en from "../../texts/en/move.js";
import { addTexts } from "../parts/language.js";

addTexts({ en, de });
