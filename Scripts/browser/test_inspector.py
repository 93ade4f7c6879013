#!/usr/bin/env python3
"""Tests the pages of `tandem browse` in a browser, with stores that the card app writes meanwhile.

Each test is a function whose name begins with `test_`.
"""

import os
import socket
import subprocess
import sys
import time

from playwright.sync_api import expect

from devices import Client, Program, ean
from test_cards import CARDS, HOSTILE, accessible, run_tests, scroll_through, until

READY = "!document.querySelector('.grid').hasAttribute('aria-busy') && !document.querySelector('.row.blank')"


def browse(bench, device, *arguments):
    """Serves the pages of a device's store."""
    return bench.started(Program([bench.tandem, "browse", device.path, "--port", "0", *arguments], r"(http://\S+?)/"))


def query(bench, device, *arguments):
    result = subprocess.run(
        [bench.tandem, "query", device.path, *arguments], capture_output=True, text=True, check=True)
    return result.stdout.strip()


def filled(bench, name, count=3):
    device = bench.device(name)
    for number in range(count):
        device.run("add", f"Shop {number}", ean(250000000000 + number))
    return device


def column(page, name):
    """Returns the texts of a column in the drawn rows, by their position."""
    return page.evaluate(
        """name => {
          const heads = [...document.querySelectorAll('[role=columnheader]')];
          const index = heads.findIndex(head => head.textContent.replace(/ [▲▼]$/, '') === name);
          return [...document.querySelectorAll('.row')]
            .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex).map(row => row.children[index].textContent);
        }""",
        name,
    )


def open_model(page, name):
    page.locator(f'[data-key="model-{name}"]').click()
    expect(page.locator("#view-title")).to_have_text(name)
    until(page, READY)


def open_object(page, text):
    page.locator(".row", has_text=text).first.click()
    expect(page.locator("#object-title")).to_be_visible()


def test_table_of_many_objects(bench):
    device = bench.large_store()
    page = bench.page(browse(bench, device).address)
    open_model(page, "Card")
    expect(page.locator("#count")).to_have_text(f"{CARDS:,} objects")
    assert page.evaluate("document.querySelectorAll('.row').length") < 100
    for fraction in (1, 0.5, 0.25, 0):
        started = time.monotonic()
        page.evaluate(f"scroller => scroller.scrollTop = {fraction} * scroller.scrollHeight",
                      page.query_selector("#scroller"))
        page.wait_for_timeout(50)
        until(page, READY)
        taken = time.monotonic() - started
        assert taken < 2, f"rows appeared after {taken:.1f} s"
    page.locator("[role=columnheader] button", has_text="shop").click()
    until(page, READY)
    first = column(page, "shop")[0]
    expected = query(bench, device, "Card", "--sort", "shop", "--limit", "1", "--columns", "shop").splitlines()[2]
    assert first == expected.strip(), f"{first}, not {expected}"
    expect(page.locator('[role=columnheader][aria-sort="ascending"]')).to_have_text("shop ▲")
    page.fill("#where", "shop matches 'сен' and points >")
    expect(page.locator("#error-where")).to_contain_text("expected")
    assert page.get_attribute("#where", "aria-invalid") == "true"
    page.fill("#where", "shop matches 'сен'")
    expect(page.locator("#error-where")).to_be_hidden()
    total = int(query(bench, device, "Card", "--where", "shop matches 'сен'", "--count"))
    expect(page.locator("#count")).to_have_text(f"{total:,} objects")
    until(page, READY)
    page.locator(".row").first.click()
    expect(page.locator("#object-title")).to_be_visible()
    bench.screenshot(page, "inspector-table")
    page.keyboard.press("Escape")
    page.fill("#where", "")
    page.fill("#search", "さくら")
    total = int(query(bench, device, "Card", "--where", "shop matches 'さくら'", "--count"))
    expect(page.locator("#count")).to_have_text(f"{total:,} objects")
    page.problems = [problem for problem in page.problems if "400" not in problem]


def test_object_with_references_and_links(bench):
    device = filled(bench, "inspected")
    page = bench.page(browse(bench, device).address)
    open_model(page, "Card")
    page.locator(".row").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#object-title")).to_have_text("Shop 1")
    expect(page.locator("section[aria-label='Pending operation']")).to_contain_text("insert, pending")
    page.locator("section[aria-label=Values] .targets button").first.click()
    until(page, "document.querySelector('#object-title')?.textContent !== 'Shop 1'")
    links = page.locator("section[aria-label='Referred to by']")
    expect(links).to_contain_text("Card.")
    links.locator("button", has_text="Show all").first.click()
    until(page, READY)
    assert page.input_value("#where") != ""
    bench.screenshot(page, "inspector-object")
    page.locator('[data-key="queue"]').click()
    expect(page.locator("#view-title")).to_have_text("Queue")
    expect(page.locator(".operation").first).to_contain_text("insert, pending")
    page.locator('[data-key="errors"]').click()
    expect(page.locator(".queue .empty")).to_have_text("No operation has an error.")
    page.go_back()
    expect(page.locator("#view-title")).to_have_text("Queue")


def test_changes_of_another_process_appear(bench):
    device = filled(bench, "live")
    page = bench.page(browse(bench, device).address)
    open_model(page, "Card")
    expect(page.locator("#count")).to_have_text("3 objects")
    open_object(page, "Shop 1")
    page.evaluate("window.isSame = true")
    started = time.monotonic()
    device.run("add", "Лента", ean(260000000000))
    expect(page.locator("#count")).to_have_text("4 objects")
    expect(page.locator(".row", has_text="Лента")).to_be_visible()
    print(f"    from the start of a process to its row: {time.monotonic() - started:.2f} s")
    device.run("edit", "Shop 1", "--shop", "Shop One")
    expect(page.locator("#object-title")).to_have_text("Shop One")
    device.run("delete", "Shop One")
    expect(page.locator("#count")).to_have_text("3 objects")
    expect(page.locator("#object")).to_contain_text("does not exist")
    assert page.evaluate("window.isSame"), "the page was loaded again"
    page.problems.clear()


def test_edits_with_undo(bench):
    device = filled(bench, "edited")
    page = bench.page(browse(bench, device, "--write").address)
    open_model(page, "Card")
    open_object(page, "Shop 1")
    page.click('[data-key="edit"]')
    page.fill("#field-points", "many")
    page.click('[data-key="save"]')
    expect(page.locator("#error-field-points")).to_contain_text("not a value")
    expect(page.locator("#field-points")).to_be_focused()
    page.fill("#field-points", "123456789012345678901234567890")
    page.fill("#field-shop", "Новый")
    page.click('[data-key="save"]')
    expect(page.locator("#object-title")).to_have_text("Новый")
    assert query(bench, device, "Card", "--count", "--where", "shop == 'Новый' and points > 1000") == "1"
    bench.screenshot(page, "inspector-edited")
    page.click("#toast-undo")
    expect(page.locator("#object-title")).to_have_text("Shop 1")
    page.click('[data-key="delete"]')
    expect(page.locator("#count")).to_have_text("2 objects")
    page.click("#toast-undo")
    expect(page.locator("#count")).to_have_text("3 objects")
    open_model(page, "Brand")
    before = page.locator("#count").inner_text()
    page.click("#add")
    page.click('[data-key="cancel"]')
    expect(page.locator("#object")).to_be_hidden()
    page.click("#add")
    page.fill("#field-name", "Neu")
    page.click('[data-key="save"]')
    expect(page.locator("#object-title")).to_have_text("Neu")
    assert page.locator("#count").inner_text() != before
    open_model(page, "Person")
    page.click("#add")
    page.fill("#field-name", "Zweimal")
    held = []
    page.route("**/data/object?*", lambda route: held.append(route))
    page.dblclick('[data-key="save"]')
    expect(page.locator("#toast-words")).to_have_text("Inserted.")
    # The form is still visible, because its object is not loaded yet.
    page.click('[data-key="save"]')
    page.wait_for_timeout(500)
    held[0].continue_()
    expect(page.locator("#object-title")).to_have_text("Zweimal")
    assert query(bench, device, "Person", "--count", "--where", "name == 'Zweimal'") == "1"
    page.problems.clear()


def test_saved_form_does_not_replace_an_object_that_was_chosen_meanwhile(bench):
    device = filled(bench, "late")
    page = bench.page(browse(bench, device, "--write").address)
    open_model(page, "Card")
    open_object(page, "Shop 1")
    page.click('[data-key="edit"]')
    page.fill("#field-shop", "Late")
    held = []
    page.route("**/edit/update", lambda route: held.append(route))
    page.click('[data-key="save"]')
    page.locator(".row", has_text="Shop 2").click()
    expect(page.locator("#object-title")).to_have_text("Shop 2")
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("#toast-words")).to_have_text("Saved.")
    page.wait_for_timeout(300)
    expect(page.locator("#object-title")).to_have_text("Shop 2")


def test_missing_rows_are_not_requested_without_end(bench):
    page = bench.page(browse(bench, filled(bench, "short")).address)
    # The first event of the stream would request the rows again.
    page.route("**/events", lambda route: None)
    page.reload()
    open_model(page, "Card")
    requests = []

    def count_more(route):
        requests.append(route.request.url)
        route.fulfill(json={**route.fetch().json(), "count": 1000})

    page.route("**/data/rows?*", count_more)
    page.fill("#search", "Shop")
    expect(page.locator("#count")).to_have_text("1,000 objects")
    page.wait_for_timeout(1000)
    known = len(requests)
    page.wait_for_timeout(1000)
    assert len(requests) == known < 4, f"{known} requests, then {len(requests)}"


def test_rows_that_arrive_late_do_not_take_the_focus(bench):
    page = bench.page(browse(bench, bench.large_store()).address)
    open_model(page, "Card")
    page.locator(".row").first.focus()
    held, released = [], []
    page.route("**/data/rows?*", lambda route: route.continue_() if released else held.append(route))
    page.keyboard.press("End")
    page.focus("#search")
    page.wait_for_timeout(200)
    assert held
    released.append(True)
    for route in held:
        route.continue_()
    until(page, READY)
    page.wait_for_timeout(200)
    expect(page.locator("#search")).to_be_focused()


def test_object_appears_if_a_filter_changes_while_the_page_loads(bench):
    device = filled(bench, "early")
    card = query(bench, device, "Card", "--where", "shop == 'Shop 1'", "--columns", "localID").splitlines()[2].strip()
    address = browse(bench, device).address
    page = bench.page(address)
    open_model(page, "Card")
    held = []
    page.route("**/data/model?*", lambda route: held.append(route))
    page.goto(f"{address}/?model=Card&of=Card&id={card}", wait_until="commit")
    page.fill("#search", "Shop")
    until(page, "location.search.includes('search=Shop')")
    assert len(held) == 1
    held[0].continue_()
    expect(page.locator("#object-title")).to_have_text("Shop 1")
    expect(page.locator("#count")).to_have_text("3 objects")


def test_markup_in_every_field_runs_no_script(bench):
    device = bench.device("hostile<img src=x onerror=alert(1)>")
    for number, text in enumerate(HOSTILE):
        device.run("add", text, ean(270000000000 + number))
    page = bench.page(browse(bench, device, "--write").address)
    open_model(page, "Card")
    for text in HOSTILE:
        open_object(page, text)
        expect(page.locator("#object-title")).to_have_text(text)
    page.click('[data-key="edit"]')
    page.click('[data-key="cancel"]')
    page.fill("#search", HOSTILE[0])
    page.fill("#where", HOSTILE[1])
    expect(page.locator("#error-where")).to_contain_text("At")
    page.locator('[data-key="queue"]').click()
    expect(page.locator(".operation")).not_to_have_count(0)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('img, svg, script:not([src])').length") == 0
    page.problems = [problem for problem in page.problems if "400" not in problem]


def all_ids(page):
    """Returns the first four columns of all rows of the table by position."""
    return scroll_through(
        page, ".row.blank",
        """for (const row of document.querySelectorAll('.row')) {
              found[row.ariaRowIndex - 2] = [...row.children].slice(0, 4).map(cell => cell.textContent);
            }""")


def test_a_thousand_changes_of_another_process(bench):
    device = filled(bench, "thousand", 20)
    page = bench.page(browse(bench, device).address)
    other = bench.page(browse(bench, device).address)
    open_model(page, "Card")
    app = Client(bench.started(device.web("--manual")).address)
    ids = []
    for number in range(1000):
        value = {"shop": f"Neu {number}", "number": ean(280000000000 + number), "points": str(number)}
        if number % 5 == 4:
            app.json("DELETE", f"/cards/{ids.pop(number * 7 % len(ids))}")
        elif number % 5 == 3:
            app.json("POST", f"/cards/{ids[number * 11 % len(ids)]}", value)
        else:
            ids.append(app.json("POST", "/cards", value)["id"])
    total = query(bench, device, "Card", "--count")
    expect(page.locator("#count")).to_have_text(f"{int(total):,} objects")
    page.wait_for_timeout(500)
    # A page that is loaded now shows the store.
    open_model(other, "Card")
    assert all_ids(page) == all_ids(other)


def is_closed_after(client, path, announced, sent):
    """Sends a part of a body, and returns whether the server refuses it and closes the connection."""
    host, port = client.host.split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = (f"POST {path} HTTP/1.1\r\nHost: {client.host}\r\nCookie: {client.cookie}\r\n"
                f"{client.header}: {client.token}\r\nContent-Length: {announced}\r\n\r\n")
        connection.sendall(head.encode() + b"x" * sent)
        received = b""
        try:
            while piece := connection.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
        return b" 413 " in received


def test_hostile_clients(bench):
    device = filled(bench, "hostile-clients")
    web = browse(bench, device, "--write")
    client = Client(web.address, "tandem")
    brand = {"model": "Brand", "values": {"name": {"text": "x", "was": None}}}
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert client.send("POST", "/edit/insert", brand, headers=headers)[0] == 403
        assert client.send("GET", "/data/summary", headers=headers)[0] == 403
    assert client.send("GET", "/", headers={"Host": "evil.example"})[0] == 421
    token, client.token = client.token, "x"
    assert client.send("POST", "/edit/insert", brand)[0] == 403
    client.token = token
    huge = {"model": "Brand", "values": {"name": {"text": "x" * (2 << 20)}}}
    assert client.send("POST", "/edit/insert", huge)[0] == 413
    assert is_closed_after(client, "/edit/insert", announced=200 << 20, sent=2 << 20)

    def write_time(first):
        started = time.monotonic()
        for number in range(5):
            device.run("add", f"Neu {first + number}", ean(290000000000 + first + number))
        return time.monotonic() - started

    quiet = write_time(0)
    before = web.memory()
    streams = []
    for _ in range(1000):
        try:
            streams.append(client.stream())
        except OSError:
            break
    occupied = write_time(100)
    grown = web.memory() - before
    print(f"    {len(streams)} streams that are not read: memory +{grown:.0f} MiB, "
          f"writes {quiet:.2f} s to {occupied:.2f} s")
    assert occupied < 3 * quiet + 1, "writers slow down"
    assert grown < 150, f"the memory grew by {grown:.0f} MiB"
    for stream in streams:
        stream.close()
    page = bench.page(web.address)
    open_model(page, "Card")
    expect(page.locator("#count")).to_have_text("13 objects")


def test_pages_are_accessible(bench):
    device = filled(bench, "accessible")
    web = browse(bench, device, "--write")
    for scheme in ("light", "dark"):
        page = bench.page(web.address, color_scheme=scheme)
        open_model(page, "Card")
        accessible(page, f"{scheme} table")
        open_object(page, "Shop 1")
        accessible(page, f"{scheme} object")
        page.click('[data-key="edit"]')
        accessible(page, f"{scheme} form")
        page.locator('[data-key="queue"]').click()
        expect(page.locator(".operation").first).to_be_visible()
        accessible(page, f"{scheme} queue")


if __name__ == "__main__":
    run_tests(sys.modules[__name__], __doc__)
