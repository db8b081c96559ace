"""When an event is sent again, and when it is given up."""

from holdfast.rules.events import EVENT_OF, GIVE_UP_S, is_given_up, next_try, type_of


def test_waits_double_up_to_an_hour_and_end_after_three_days():
    waits = [next_try(1000.0, tries) - 1000.0 for tries in range(14)]
    assert waits[:4] == [5.0, 10.0, 20.0, 40.0]
    assert waits == sorted(waits) and set(waits[10:]) == {3600.0}
    assert GIVE_UP_S == 3 * 86400
    assert not is_given_up(1000.0, 1000.0 + GIVE_UP_S - 1) and is_given_up(1000.0, 1000.0 + GIVE_UP_S)


def test_what_a_newer_release_records_has_a_type():
    assert {type_of(action) for action in EVENT_OF} == set(EVENT_OF.values())
    assert type_of("new") == "identifier.new"
