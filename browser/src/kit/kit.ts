/** What the payment window and the other pages share. Both import this file, so that the build keeps it together. */

import "./el.ts";
import "./filled.ts";
import "./hidden.ts";
import "./languages.ts";
import "./meta.ts";
import "./money.ts";
import "./payees.ts";
import "./qr_code.ts";
import "./sheet.ts";
import "./stored.ts";
import "./stray_clicks.ts";
