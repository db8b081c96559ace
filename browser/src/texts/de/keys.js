/** Texts of the screens about the keys of the account, in German. They are loaded with these screens. */

export default {
  "keys.owners": "Wer Ihr Konto benutzen kann",
  "keys.owners.lead": "Jeder dieser Schlüssel kann allein Ihr Geld ausgeben.",
  "keys.owners.two":
    "Zwei dieser Schlüssel müssen zustimmen, bevor Geld bewegt wird. Ändern Sie sie mit dem Programm „holdfast account“.",
  "keys.notowner": "Der Schlüssel dieses Tresors kann dieses Konto nicht mehr benutzen.",
  "keys.this": "Dieser Tresor",
  "keys.kind.vault": "Öffnet sich mit Ihrem Passkey oder Ihrem Tresorpasswort",
  "keys.kind.passkey": "Passkey, geht auch ohne den Tresor",
  "keys.kind.p256": "Ein anderes Gerät oder ein anderer Tresor",
  "keys.kind.address": "Wallet oder Konto",
  "keys.kind.verifier": "Schlüssel anderer Art",
  "keys.unnamed": "Schlüssel {code}",
  "keys.until": "bis {time}",
  "keys.only": "Das ist der einzige Schlüssel. Fügen Sie einen weiteren hinzu, bevor Sie ihn verlieren.",
  "keys.remove": "Entfernen",
  "keys.remove.heading": "{name} entfernen?",
  "keys.remove.text":
    "Dieser Schlüssel kann dann Ihr Geld nicht mehr ausgeben. Tun Sie das sofort, wenn das Gerät verloren oder gestohlen ist.",
  "keys.remove.this": "Dieser Tresor kann dann Ihr Konto nicht mehr benutzen. Nur die anderen Schlüssel können es.",
  "keys.passkey.lead": "Ein Passkey kann das Konto auch direkt benutzen, sogar wenn der Tresor weg ist.",
  "keys.passkey.add": "Passkey {name} hinzufügen",
  "keys.add": "Ein weiteres eigenes Gerät hinzufügen",
  "keys.add.lead": "Das andere Gerät hat einen eigenen Tresor. Geben Sie dessen Namen oder Code ein.",
  "keys.add.heading": "Diesen Schlüssel hinzufügen?",
  "keys.add.text":
    "Er kann dann Ihr ganzes Geld ausgeben und Ihre anderen Schlüssel entfernen. Fügen Sie nur eigene Geräte hinzu.",
  "keys.add.yes": "Hinzufügen",
  "keys.to": "Name, Adresse oder Code",
  "keys.to.hint": "Die andere Seite zeigt ihren Code unter „Schlüssel Ihres Kontos“.",
  "keys.bad.person":
    "Wir wissen nicht, welchen Schlüssel dieses Konto hat. Fragen Sie nach dem Code: Die andere Seite zeigt ihn unter „Schlüssel Ihres Kontos“.",
  "keys.bad.own": "Das ist Ihr eigener Schlüssel.",
  "keys.asked.key": "Code des Schlüssels",
  "keys.asked.account": "Konto",
  "keys.asked.lost": "Konto, das den Schlüssel bekommt",
  "keys.trust.code": "Vergleichen Sie diesen Code mit dem auf der anderen Seite.",
  "keys.trust.address":
    "Eine Adresse ohne geprüfte Identität. Vergleichen Sie sie Zeichen für Zeichen mit der auf der anderen Seite.",
  "keys.trust.unproven":
    "Nicht geprüft: Die Chain nennt dieses Konto, aber nichts belegt, wer die DID registriert hat. Vergleichen Sie die Adresse mit der auf der anderen Seite.",
  "keys.trust.name":
    "Nicht geprüft: Nur dieser Dienst sagt, dass {name} diese DID hat. Vergleichen Sie die Adresse mit der auf der anderen Seite.",
  "keys.look":
    "„{to}“ enthält Ziffern oder Buchstaben, die wie andere aussehen. Prüfen Sie, ob es der gemeinte Name ist.",
  "keys.look.alike":
    "Vorsicht: „{to}“ sieht aus wie „{alike}“, an den Sie schon gezahlt haben, ist aber ein anderer Name.",
  "keys.place.heading": "Haben Sie Ihre Schlüssel woanders geändert?",
  "keys.place.text.one":
    "Das Netz zeigt {n} Änderung Ihrer Schlüssel, die dieser Browser nicht kennt. Gehen Sie nur weiter, wenn Sie oder ein anderes Ihrer Geräte sie gemacht haben. Sonst könnte jemand das, was Sie jetzt unterschreiben, später verwenden.",
  "keys.place.text.other":
    "Das Netz zeigt {n} Änderungen Ihrer Schlüssel, die dieser Browser nicht kennt. Gehen Sie nur weiter, wenn Sie oder ein anderes Ihrer Geräte sie gemacht haben. Sonst könnte jemand das, was Sie jetzt unterschreiben, später verwenden.",
  "keys.place.yes": "Ja, weiter",
  "keys.place.behind":
    "Das Netz zeigt Ihre letzte Änderung noch nicht. Es wurde nichts unterschrieben. Versuchen Sie es später wieder.",
  "keys.place.unproven":
    "Das Netz sagt, dass Ihre Schlüssel geändert wurden, zeigt aber nicht alle Änderungen. Es wurde nichts unterschrieben. Versuchen Sie es später wieder.",
  "keys.change.lead": "Sie unterschreiben einmal. Es gilt auf jeder Chain, auf der Sie dieses Konto haben.",
  "keys.change.waiting": "Noch nicht begonnen",
  "keys.change.working": "Wird geändert …",
  "keys.change.done": "Geändert.",
  "keys.change.left": "Noch nicht geändert: {reason}",
  "keys.change.said": "Geändert auf {chain}.",
  "keys.chains":
    "Was Sie hier ändern, gilt auf {chain}. Wenn Sie dieses Konto auch auf anderen Chains haben, bringt das Programm „holdfast account bring“ die Änderungen dorthin.",
  "keys.guardians": "Wer Ihr Konto zurückholt",
  "keys.guardians.lead":
    "Wählen Sie Menschen, denen Sie vertrauen. Wenn Sie alle Schlüssel verlieren, können sie Ihrem Konto einen neuen geben. Ihr Geld können sie nicht ausgeben.",
  "keys.guardians.none": "Noch niemand. Wenn Sie alle Schlüssel verlieren, ist Ihr Geld verloren.",
  "keys.guardians.agree.one": "{n} Person genügt.",
  "keys.guardians.agree.other": "{n} Personen müssen zustimmen.",
  "keys.guardians.wait": "Sie haben dann {time} Zeit, es anzuhalten.",
  "keys.guardians.off": "Sie können noch nichts tun, weil Sie nicht gesagt haben, wie viele zustimmen müssen.",
  "keys.guardian.to": "Name, Adresse oder Code der Person",
  "keys.guardian.add": "Diese Person hinzufügen",
  "keys.guardian.heading": "Diese Person hinzufügen?",
  "keys.guardian.text":
    "Diese Person kann dann helfen, Ihrem Konto einen neuen Schlüssel zu geben. Fragen Sie die Person, und vergleichen Sie, was Sie hier sehen.",
  "keys.guardian.remove.text": "Diese Person kann dann nicht mehr helfen, Ihr Konto zurückzuholen.",
  "keys.people.one": "{n} Person",
  "keys.people.other": "{n} Personen",
  "keys.terms": "Wie viele zustimmen müssen, und wie viel Zeit Sie haben",
  "keys.terms.quorum": "Wie viele zustimmen müssen",
  "keys.terms.delay": "Wie lange Sie es anhalten können",
  "keys.terms.save": "Speichern",
  "keys.takeover": "Jemand verlangt Ihr Konto",
  "keys.takeover.text":
    "Menschen, die Sie gewählt haben, wollen Ihrem Konto einen neuen Schlüssel geben. Das kann ab {time} geschehen; Ihre Schlüssel gelten dann nicht mehr. Wenn Sie das nicht wollten, halten Sie es jetzt an.",
  "keys.takeover.owners": "Nur diese Schlüssel können Ihr Konto dann benutzen:",
  "keys.takeover.unknown": "Wir können nicht sehen, welche Schlüssel das sind.",
  "keys.takeover.shared":
    "Der Schlüssel dieses Tresors ist dabei. Aber auch jeder der anderen Schlüssel kann dann allein Ihr Geld ausgeben.",
  "keys.mine": "Ihr Konto kommt zurück",
  "keys.mine.text": "Ab {time} gelten nur noch die neuen Schlüssel. Der Schlüssel dieses Tresors ist dabei.",
  "keys.stop": "Anhalten",
  "keys.stopped": "Angehalten. Ihre Schlüssel bleiben, wie sie sind.",
  "keys.help": "Jemandem helfen, ein Konto zurückzuholen",
  "keys.help.lead":
    "Eine Person, die Sie gewählt hat, hat alle Schlüssel verloren. Zuerst macht sie einen neuen Tresor. Fragen Sie sie persönlich oder am Telefon, ob es wirklich ihrer ist.",
  "keys.help.lost": "Name oder Adresse des verlorenen Kontos",
  "keys.help.new": "Name, Adresse oder Code des neuen Tresors",
  "keys.help.heading": "Dem Konto diesen Schlüssel geben?",
  "keys.help.text":
    "Wer diesen Schlüssel hat, bekommt das Konto und sein Geld. Rufen Sie die Person an, und vergleichen Sie alles, was Sie hier sehen.",
  "keys.help.ask": "Den neuen Schlüssel verlangen",
  "keys.help.none": "{name} hat Sie dafür nicht gewählt.",
  "keys.help.asked": "Fertig. Wenn es niemand anhält, bekommt die Person das Konto am {time}.",
  "keys.back": "Ihr altes Konto zurückholen",
  "keys.back.lead":
    "Wenn Menschen, die Sie gewählt haben, es verlangt haben, oder wenn ein anderes Ihrer Geräte diesen Tresor hinzugefügt hat.",
  "keys.back.old": "Name oder Adresse Ihres alten Kontos",
  "keys.back.hint": "Der Name, unter dem Sie vorher registriert waren.",
  "keys.back.get": "Zurückholen",
  "keys.back.heading": "Dieses Konto benutzen?",
  "keys.back.alone": "Nur dieser Tresor kann es dann benutzen. Prüfen Sie, ob es Ihr altes Konto ist.",
  "keys.back.shared":
    "Vorsicht: Auch andere Schlüssel können dieses Konto benutzen und ausgeben, was darauf ist. Gehen Sie nur weiter, wenn alle diese Schlüssel Ihre sind.",
  "keys.hidden": "Weitere Schlüssel, die wir nicht zeigen können: {n}",
  "keys.back.none": "Niemand hat verlangt, dass dieser Tresor das Konto bekommt.",
  "keys.back.early": "Es ist verlangt. Sie können es ab {time} zurückholen.",
  "keys.back.done": "Sie benutzen jetzt Ihr altes Konto.",
  "keys.own.lead": "Sie benutzen ein Konto, das ein anderer Schlüssel angelegt hat.",
  "keys.own": "Das eigene Konto dieses Tresors benutzen",
  "keys.own.done": "Sie benutzen jetzt das eigene Konto dieses Tresors.",
  "keys.code": "Der Code des Schlüssels dieses Tresors",
  "keys.code.lead": "Geben Sie ihn jemandem, der diesen Tresor hinzufügen will. Er ist nicht geheim.",
  "keys.service": "{name}, dieser Dienst",
  "keys.kind.service": "Dieser Dienst",
  "keys.service.lead":
    "Auch {name} kann helfen: Der Dienst schickt einen Code an eine E-Mail-Adresse, die Sie hier registriert haben, wartet {wait} und stimmt dann zu. Wählen Sie auch mindestens einen Menschen, damit der Dienst nicht allein handeln kann.",
  "keys.service.add": "{name} hinzufügen",
  "keys.service.text":
    "Wenn Sie alle Schlüssel verlieren, stimmt {name} einem neuen Schlüssel zu: nach einem Code an eine Ihrer E-Mail-Adressen und {wait} Wartezeit. Alle Ihre E-Mail-Adressen erfahren davon.",
  "keys.service.yes": "Hinzufügen",
  "keys.alone.heading": "Soll {name} allein genügen?",
  "keys.alone.text":
    "Dieser Dienst könnte Ihrem Konto dann einen neuen Schlüssel geben, ohne einen Menschen, den Sie kennen.",
  "keys.alone.service": "Wer {name} betreibt oder dort einbricht, könnte Ihr Konto und sein Geld nehmen.",
  "keys.alone.mail": "Auch wer Ihre E-Mails liest, könnte das, nach {wait} Wartezeit.",
  "keys.alone.time":
    "Sie haben {time} Zeit, es anzuhalten, solange Sie noch einen Schlüssel haben. Wir schicken Ihnen eine E-Mail.",
  "keys.alone.better": "Sicherer ist es, auch einen Menschen zu wählen und zu verlangen, dass zwei zustimmen.",
  "keys.alone.yes": "Ja, er allein genügt",
  "keys.ask": "{name} um Ihr altes Konto bitten",
  "keys.ask.lead":
    "Wenn Sie alle Schlüssel verloren haben und {name} dafür gewählt hatten. Der Dienst schickt einen Code an eine E-Mail-Adresse, die Sie registriert haben, und stimmt nach {wait} zu.",
  "keys.ask.to": "Eine E-Mail-Adresse, die Sie registriert haben",
  "keys.ask.to.any": "Eine E-Mail-Adresse oder Telefonnummer, die Sie registriert haben",
  "keys.ask.send": "Code schicken",
  "keys.ask.code": "Geben Sie den Code ein",
  "keys.ask.sent": "Wir haben einen Code an {to} geschickt.",
  "keys.ask.check": "Prüfen",
  "keys.ask.wrong": "Der Code stimmt nicht oder ist zu alt. Lassen Sie einen neuen schicken.",
  "keys.ask.said":
    "{name} stimmt am {time} zu. Dann können die Menschen, die Sie gewählt haben, Ihr Konto verlangen, oder Sie holen es hier zurück, wenn {name} allein genügt.",
  "keys.ask.waits": "{name} stimmt am {time} zu. Versuchen Sie es dann noch einmal.",
  "keys.back.started": "Es ist verlangt. Sie können es ab {time} zurückholen, wenn es niemand anhält.",
  "keys.help.service":
    "Auch {name} muss zustimmen. Die Person muss zuerst bei „{name} um Ihr altes Konto bitten“ darum bitten.",
  "keys.help.more":
    "Es müssen noch mehr Menschen zustimmen. Sie benutzen dafür das Programm „holdfast account recover“.",
  "keys.stop.service": "Anhalten, worum {name} gebeten wurde",
  "keys.stop.service.text":
    "Jemand hat {name} gebeten, Ihrem Konto einen neuen Schlüssel zu geben. Wenn Sie das nicht waren, halten Sie es an. Ihre Schlüssel bleiben, wie sie sind.",
  "keys.stop.service.done":
    "Angehalten. Nehmen Sie jetzt {name} aus der Liste derer, die Ihr Konto zurückholen, oder ändern Sie das Passwort Ihrer E-Mail.",
  "keys.stop.service.none":
    "Es gibt nichts anzuhalten. Wenn Ihr Konto schon einen neuen Schlüssel bekommt, halten Sie das in Ihrem Tresor an.",
  "keys.drill.lead":
    "Wir haben ausprobiert, was geht, ohne etwas zu ändern. Diese Wege bringen das Konto und sein Geld zurück, nicht diesen Tresor.",
  "keys.drill.none":
    "Kein anderer Schlüssel kann Ihr Konto benutzen, und niemand kann es zurückholen. Fügen Sie unter „Schlüssel Ihres Kontos“ etwas hinzu.",
  "keys.drill.tried": "Ausprobiert:",
  "keys.drill.failed": "Geht nicht:",
  "keys.drill.told": "Nicht ausprobiert:",
  "keys.drill.owner": "Das Netz nimmt diesen Schlüssel für Ihr Konto an.",
  "keys.drill.owner.two": "Das Netz nimmt diesen Schlüssel zusammen mit einem anderen für Ihr Konto an.",
  "keys.drill.owner.over": "Dieser Schlüssel galt bis {time}.",
  "keys.drill.has": "Ob Sie ihn noch haben. Benutzen Sie ihn dort einmal.",
  "keys.drill.guardians.one": "Ihr Konto nimmt einen neuen Schlüssel an, wenn {n} von ihnen zustimmt.",
  "keys.drill.guardians.other": "Ihr Konto nimmt einen neuen Schlüssel an, wenn {n} von ihnen zustimmen.",
  "keys.drill.refused": "Ihr Konto nimmt von ihnen keine neuen Schlüssel an.",
  "keys.drill.people": "Ob sie erreichbar sind und ihre Schlüssel noch haben. Fragen Sie sie: {names}.",
  "keys.drill.running": "Jemand verlangt gerade Ihr Konto.",
  "keys.drill.service": "Er gehört dazu und hat Ihre Adresse: {to}. Er stimmt nach {wait} zu.",
  "keys.drill.service.none":
    "Er gehört dazu, aber Sie haben hier keine Adresse registriert, an die er einen Code schicken könnte.",
  "keys.drill.service.mail": "Ob Sie noch lesen können, was er an {to} schickt.",
  "keys.ask.impossible": "{to} ist hier für kein Konto registriert, das diesen Dienst dafür gewählt hat.",
  "keys.ask.done": "Es ist verlangt",
  "keys.ask.account":
    "Ihr altes Konto. Geben Sie das den Menschen, die Sie gewählt haben, wenn auch sie zustimmen müssen.",
};
