/** The texts of moving to another service, in German. */

export default {
  "move.heading": "Zu einem anderen Dienst umziehen",
  "move.lead":
    "Nehmen Sie Tresor, Namen und einen neuen Passkey zu einem anderen Dienst mit, oder zu diesem unter seiner neuen Adresse. Ihre Identität und Ihr Konto bleiben.",
  "move.host": "Adresse des neuen Dienstes",
  "move.host.hint":
    "Tippen Sie sie selbst, zum Beispiel new.example. Ein Link, den Ihnen jemand geschickt hat, kann zu einer Kopie führen.",
  "move.host.bad": "Geben Sie eine Adresse ein, die mit https:// beginnt, ohne etwas nach dem Namen.",
  "move.unreachable": "{host} ist nicht erreichbar, oder dieses Gerät ist offline. Es hat sich nichts geändert.",
  "move.check": "Diesen Dienst prüfen",
  "move.checking": "Der neue Dienst wird gefragt.",
  "move.review": "Umzug zu {host}",
  "move.name": "Name",
  "move.did": "Identität (bleibt)",
  "move.from": "Von",
  "move.to": "Zu",
  "move.steps":
    "Ein Fenster von {host} geht auf, in dem Sie einen Passkey dafür machen. Dann wird Ihr Tresor dorthin kopiert und zurückgelesen. Erst danach gibt {from} Ihren Namen frei.",
  "move.again": "Geben Sie noch einmal {host} ein",
  "move.again.bad": "Das ist nicht {host}.",
  "move.code": "Code, den {host} an {identifier} geschickt hat",
  "move.owner": "Der neue Passkey wird auch ein Schlüssel Ihres Kontos, mit dem er auch ohne Ihren Tresor zahlen kann",
  "move.begin": "Umziehen",
  "move.waiting": "Weiter geht es im Fenster von {host}.",
  "move.signed": "Der neue Passkey hat unterschrieben.",
  "move.copied": "Die Kopie Ihres Tresors wurde zurückgelesen und geöffnet.",
  "move.owned": "Der neue Passkey ist ein Schlüssel Ihres Kontos.",
  "move.former": "Den alten Passkey aus Ihrem Konto entfernen?",
  "move.former.text":
    "Der neue Passkey hat unterschrieben. Auch der alte ist ein Schlüssel Ihres Kontos und kann daraus zahlen. Der Umzug geht in beiden Fällen weiter.",
  "move.former.end": "Alten Passkey entfernen",
  "move.former.keep": "Alten Passkey behalten",
  "move.closed": "Das Fenster von {host} wurde geschlossen. Nichts ist umgezogen. Beginnen Sie neu, wann Sie wollen.",
  "move.blocked":
    "Der Browser hat das Fenster nicht geöffnet. Erlauben Sie dieser Seite Fenster und drücken Sie den Knopf noch einmal.",
  "move.done": "Sie sind umgezogen",
  "move.done.text":
    "{identifier} ist jetzt bei {host}. Öffnen Sie dort Ihren Tresor mit dem neuen Passkey. Was dieser Browser vom Tresor hat, bleibt, bis Sie es entfernen.",
  "move.done.owner":
    "Der neue Passkey ist kein Schlüssel Ihres Kontos. Sie können ihn dort unter „Schlüssel Ihres Kontos“ hinzufügen.",
  "move.done.missing":
    "Noch nicht auf {chains}: Dort kann der alte Passkey zahlen wie bisher, und der neue nicht. Drücken Sie unter „Schlüssel Ihres Kontos“ auf „Alle Änderungen auf jede Chain bringen“.",
  "move.done.behind": "Noch hier: {names}.",
  "move.done.open": "{host} öffnen",
  "move.make": "Ein Passkey für Ihren Umzug",
  "move.make.asker": "Die Seite, die dieses Fenster geöffnet hat",
  "move.make.text":
    "{origin} möchte den Tresor von „{name}“ zu {host} umziehen. Machen Sie nur weiter, wenn Sie das auf {origin} selbst begonnen haben. Sonst schließen Sie dieses Fenster.",
  "move.make.do": "Einen Passkey für {host} machen",
  "move.make.done": "Fertig. Gehen Sie zurück zu {origin}.",
  "move.make.none": "Keine Seite hat hier um einen Passkey gebeten. Sie können dieses Fenster schließen.",
  "move.refused.same_service": "Bei diesem Dienst sind Sie schon.",
  "move.refused.insecure_service": "Diese Adresse ist nicht durch https geschützt.",
  "move.refused.other_service":
    "Der Dienst unter dieser Adresse sagt, dass er ein anderer ist. Machen Sie nicht weiter.",
  "move.refused.other_chain": "Dieser Dienst ist auf einer anderen Chain, auf der Ihre Identität nicht ist.",
  "move.refused.other_contracts":
    "Dieser Dienst hat andere Verträge, in denen Ihre Identität und Ihr Konto nicht sind.",
  "move.refused.not_registered": "Dieser Tresor ist hier nicht registriert, es gibt also keinen Namen zum Umziehen.",
  "move.refused.name_taken": "Ihr Name gehört bei diesem Dienst jemand anderem.",
  "move.refused.no_proof": "Der neue Passkey hat nicht für den neuen Dienst unterschrieben. Nichts ist umgezogen.",
  "move.refused.other_registration":
    "Der neue Dienst hat Ihren Namen nicht, obwohl er es sagte. Ihr Name, Ihre Passkeys und die Kopie Ihres Tresors hier bleiben.",
  "move.refused.not_owner":
    "Nichts ist verloren: Ihr Name, Ihre Passkeys und die Kopie Ihres Tresors bleiben hier. Der neue Passkey ist vielleicht noch kein Schlüssel Ihres Kontos. {reason} Drücken Sie noch einmal „Umziehen“, dann geht es hier weiter. Oder entfernen Sie den Haken über dem Knopf: Dann wird er kein Schlüssel Ihres Kontos.",
  "move.refused.other_copy":
    "Der neue Dienst hat die Kopie Ihres Tresors nicht so zurückgegeben, wie sie war. Ihr Name, Ihre Passkeys und die Kopie hier bleiben.",
} satisfies Record<keyof typeof import("../en/move.ts").default, string>;
