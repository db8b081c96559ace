/** Adds the texts of moving, which only its page needs. */

import de from "../../texts/de/move.ts";
import en from "../../texts/en/move.ts";
import { addTexts } from "../parts/language.ts";

addTexts({ en, de });
