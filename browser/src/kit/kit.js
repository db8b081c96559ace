/** What the payment window and the other pages share. Both import this file, so that the build keeps it together. */

import "./el.js";
import "./filled.js";
import "./hidden.js";
import "./languages.js";
import "./meta.js";
import "./money.js";
import "./payees.js";
import "./qr_code.js";
import "./sheet.js";
import "./stored.js";
import "./stray_clicks.js";
