#!/usr/bin/env python3
"""Tests the card app's pages in a browser, with stores, servers and other processes that change them.

Each test is a function whose name begins with `test_`. A test that fails leaves a screenshot, and the others run on.
"""

import argparse
import inspect
import io
import json
import os
import random
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

import numpy
import zxingcpp
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect, sync_playwright

from devices import Client, Device, Server, ean

CARDS = 15_000
SYLLABLES = {
    "latin": "ka lo mi ra sen tor vel du fri gal".split(),
    "cyrillic": "ка ло ми ра сен тор вел ду фри гал".split(),
    "greek": "κα λο μι ρα σεν τορ".split(),
    "japanese": "さ く ら ま つ も と か わ".split(),
    "hebrew": "נו עה בר קת של".split(),
    "georgian": "ნი ნო ვა რდ შვი".split(),
    "arabic": "سو ق مد ين ة".split(),
}
# Texts that would run a script, if a page took them for markup.
HOSTILE = [
    "<img src=x onerror='window.hacked=1'>", "\"><script>window.hacked=1</script>",
    "\"\u0301 onfocus=window.hacked=1 autofocus x=\"\u0301", "</title><svg onload=window.hacked=1>",
    "{{token}}", "javascript:window.hacked=1",
]


def names(count):
    """Returns names in many scripts, each different."""
    generator = random.Random(23)
    scripts = list(SYLLABLES.values())
    result = []
    for number in range(count):
        syllables = scripts[generator.randrange(len(scripts)) if number % 2 else number // 2 % 2]
        name = "".join(generator.choice(syllables) for _ in range(generator.randint(3, 6)))
        result.append(f"{name.capitalize()} {number}")
    return result


class Bench:
    """The browser, and what the tests share."""

    def __init__(self, options, playwright, folder):
        self.cards = options.cards
        self.tandem = options.tandem
        self.folder = folder
        self.screenshots = options.screenshots
        self.browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        self.programs = []
        self.pages = []
        self.large = None

    def device(self, name, key=None):
        return Device(self.cards, os.path.join(self.folder, name + ".tandem"), key)

    def started(self, program):
        self.programs.append(program)
        return program

    def page(self, address, path="/", **options):
        """Opens a page in a browser profile of its own. Fails later if a script of it fails."""
        context = self.browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        page = context.new_page()
        page.problems = []
        page.on("pageerror", lambda error: page.problems.append(f"script: {error}"))
        page.on("console", lambda message: message.type == "error" and page.problems.append(
            f"{message.text} {message.location.get('url', '')}"))
        page.on("dialog", lambda dialog: (page.problems.append("dialog"), dialog.dismiss()))
        page.goto(address + path)
        self.pages.append(page)
        return page

    def large_store(self):
        """A store with many cards, imported once."""
        if not self.large:
            self.large = self.device("large")
            file = os.path.join(self.folder, "names.tsv")
            with open(file, "w") as output:
                output.write("name\n" + "\n".join(names(CARDS)) + "\n")
            self.large.run("import", file, "--family")
        return self.large

    def screenshot(self, page, name):
        page.wait_for_timeout(200)
        page.screenshot(path=os.path.join(self.screenshots, name + ".png"))

    def end(self):
        """Closes the pages and programs of a test, and returns the problems of its pages."""
        problems = []
        for page in self.pages:
            page.context.close()
            expected = getattr(page, "expected", None)
            problems += [problem for problem in page.problems if not expected or expected not in problem]
        for program in self.programs:
            try:
                program.stop()
            except RuntimeError as error:
                problems.append(str(error))
        self.pages, self.programs = [], []
        return problems


# Reading a page


def until(page, expression, arg=None, timeout=20_000):
    """Waits until an expression holds. The pages' policy forbids Playwright's own way, which compiles texts."""
    end = time.monotonic() + timeout / 1000
    while True:
        try:
            if page.evaluate(expression, arg):
                return
        except PlaywrightError as error:
            # The page is being replaced by another.
            if "context was destroyed" not in str(error):
                raise
        assert time.monotonic() < end, f"After {timeout / 1000} s it does not hold: {expression}"
        page.wait_for_timeout(20)


def count(page):
    return int(page.locator("#count").inner_text().split()[0].replace(",", ""))


def rows(page):
    """Returns the shops of the drawn rows, in the order of the document."""
    return page.evaluate("[...document.querySelectorAll('#list .row:not(.blank) .shop')].map(e => e.textContent)")


def expect_rows(page, shops):
    """Waits until the drawn rows have these shops, in this order. The list follows a response later."""
    wait_for(lambda: rows(page) == shops, what=f"the rows are {rows(page)}")


def scroll_through(page, blank, collect):
    """Scrolls through a list, and returns `found`, to which a script adds the rows at each position.

    A row that has not arrived yet matches the selector `blank`.
    """
    return page.evaluate(
        """async (blank) => {
          const scroller = document.getElementById('scroller');
          const found = [];
          for (let top = 0; ; top += scroller.clientHeight / 2) {
            scroller.scrollTop = top;
            for (let wait = 0; wait < 100; wait++) {
              await new Promise(requestAnimationFrame);
              if (!document.querySelector(blank)) break;
              await new Promise(done => setTimeout(done, 20));
            }
            COLLECT
            if (top > scroller.scrollHeight) return found;
          }
        }""".replace("COLLECT", collect),
        blank,
    )


def all_rows(page):
    """Returns all rows of the list: the ID, the shop, the owner and the points by position."""
    return scroll_through(
        page, "#list .blank",
        """for (const link of document.querySelectorAll('#list .row:not(.blank) a')) {
              found[Number(link.dataset.position)] = [link.dataset.id, link.querySelector('.shop').textContent,
                link.querySelector('.owner').textContent, link.querySelector('.points').textContent];
            }""")


def search(page, words):
    page.fill("#search", words)
    until(page, "!document.getElementById('list').hasAttribute('aria-busy')")


def choose(page, shop):
    page.locator("#list .row", has_text=shop).first.click()
    expect(page.locator("#card-title")).to_have_text(shop)


def add(page, shop, number, points="7"):
    page.click("#add")
    # The new form replaces an earlier one when it arrives.
    expect(page.locator("#field-number")).to_have_value("")
    page.fill("#field-shop", shop)
    page.fill("#field-number", ean(number))
    page.fill("#field-points", points)
    page.click("#card-form button[type=submit]")
    expect(page.locator("#card-title")).to_have_text(shop)


def picture(color, size=(1200, 800)):
    output = io.BytesIO()
    noise = numpy.random.default_rng(1).integers(0, 60, (size[1], size[0], 3), dtype=numpy.uint8)
    Image.fromarray(noise + numpy.array(color, dtype=numpy.uint8)).save(output, "PNG")
    return output.getvalue()


def accessible(page, name):
    """Fails if axe-core finds a violation."""
    found = Axe().run(page).response["violations"]
    for violation in found:
        print("   ", name, violation["id"], violation["help"], [n["target"] for n in violation["nodes"][:3]])
        for node in violation["nodes"][:2]:
            print("      ", node["html"][:160], node["failureSummary"][:200].replace("\n", " "))
    assert not found, f"{name}: {len(found)} violations of axe-core"


def wait_for(condition, seconds=20, what="the condition"):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError(f"After {seconds} s: {what}")


# The tests


def test_list_of_many_cards(bench):
    web = bench.started(bench.large_store().web())
    page = bench.page(web.address)
    expect(page.locator("#count")).to_have_text(f"{CARDS:,} cards")
    assert page.evaluate("document.querySelectorAll('#list .row').length") < 100
    headings = page.locator("#list .head h2").all_inner_texts()
    assert headings, "no section has a heading"
    # The end of the list, and its middle, within a second each.
    for fraction in (1, 0.5, 0.25):
        started = time.monotonic()
        page.evaluate(f"document.getElementById('scroller').scrollTop = {fraction} * 16e6 * {1 if fraction == 1 else 0.06}")
        until(
            page,
            "document.querySelectorAll('#list .row').length > 5 && !document.querySelector('#list .blank')"
        )
        taken = time.monotonic() - started
        assert taken < 2, f"rows appeared after {taken:.1f} s"
    frames = page.evaluate(
        """async () => {
          const scroller = document.getElementById('scroller');
          scroller.scrollTop = 0;
          let longest = 0, last = performance.now();
          for (let step = 0; step < 120; step++) {
            scroller.scrollTop += 400;
            await new Promise(requestAnimationFrame);
            const now = performance.now();
            longest = Math.max(longest, now - last);
            last = now;
          }
          return longest;
        }"""
    )
    print(f"    longest frame while scrolling: {frames:.0f} ms")
    bench.screenshot(page, "list")
    for words in ("сенторвел", "さくら", "ΚΑΛΟ", "נועה"):
        search(page, words)
        expected = bench.large.run("search", words, "--limit", "1")
        expected = 0 if "No cards" in expected else int(expected.strip().split()[-2].replace(",", ""))
        assert count(page) == expected, f"{words}: {count(page)}, not {expected}"
    search(page, "ada мол")
    search(page, "zzzzqq")
    expect(page.locator("#empty")).to_be_visible()
    search(page, "")
    expect(page.locator("#count")).to_have_text(f"{CARDS:,} cards")


def test_time_from_a_key_to_the_painted_result(bench):
    web = bench.started(bench.large_store().web())
    page = bench.page(web.address)
    expect(page.locator("#count")).to_have_text(f"{CARDS:,} cards")
    page.evaluate(
        """() => {
          window.times = [];
          let pressed = null;
          const list = document.getElementById('list');
          document.getElementById('search').addEventListener('keydown', event => pressed = event.timeStamp, true);
          new MutationObserver(() => {
            if (pressed === null || list.hasAttribute('aria-busy')) return;
            const start = pressed;
            pressed = null;
            requestAnimationFrame(() => {
              const channel = new MessageChannel();
              channel.port1.onmessage = () => window.times.push(performance.now() - start);
              channel.port2.postMessage(null);
            });
          }).observe(list, { attributes: true, attributeFilter: ['aria-busy'] });
        }"""
    )
    page.focus("#search")
    total = 0
    for word in ("kalomi", "торвел", "さくら", "sen 12", "λορα", "ra"):
        for letter in word:
            if letter > "\x7f":
                # Playwright has no keys of other scripts: the key is pressed, and its text inserted.
                page.evaluate("document.getElementById('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'x'}))")
                page.keyboard.insert_text(letter)
            else:
                page.keyboard.press("Space" if letter == " " else letter)
            total += 1
            until(page, f"window.times.length === {total}", timeout=10_000)
        page.keyboard.press("Control+A")
        page.keyboard.press("Delete")
        total += 1
        until(page, f"window.times.length === {total}", timeout=10_000)
    times = page.evaluate("window.times")
    median = statistics.median(times)
    print(f"    from a key to the painted result at {CARDS:,} cards: median {median:.0f} ms, "
          f"longest {max(times):.0f} ms, {len(times)} keys")
    assert median < 100, f"median {median:.0f} ms"


def test_a_card_from_adding_to_undo(bench):
    device = bench.device("flow")
    web = bench.started(device.web())
    page = bench.page(web.address)
    expect(page.locator("#empty")).to_be_visible()
    page.click("#add")
    page.fill("#field-number", "123")
    page.click("#card-form button[type=submit]")
    expect(page.locator("#error-number")).to_contain_text("EAN-13")
    expect(page.locator("#field-shop")).to_be_focused()
    assert page.get_attribute("#field-shop", "aria-invalid") == "true"
    add(page, "Лента", 200000000001)
    add(page, "Аптека", 200000000002)
    add(page, "Магнит", 200000000003, "1234567890123456789012")
    expect_rows(page, ["Аптека", "Лента", "Магнит"])
    expect(page.locator("dd.points")).to_have_text("1,234,567,890,123,456,789,012")
    # The favorite moves to the top.
    page.click("[data-action=star]")
    expect(page.locator("[data-action=star]")).to_have_attribute("aria-pressed", "true")
    until(page, "document.querySelector('#list .row .shop').textContent === 'Магнит'")
    expect_rows(page, ["Магнит", "Аптека", "Лента"])
    assert page.locator("#list .head h2").all_inner_texts() == ["★ Favorites", "А", "Л"]
    # The bar code is one that a scanner reads, in both schemes.
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        image = Image.open(io.BytesIO(page.locator("svg.barcode").screenshot()))
        codes = zxingcpp.read_barcodes(image)
        assert [code.text for code in codes] == [ean(200000000003)], f"{scheme}: {codes}"
        assert "EAN13" in str(codes[0].format).replace("-", "").upper()
    page.emulate_media(color_scheme="light")
    # Edit.
    page.click("text=Edit")
    page.fill("#field-points", "5")
    page.fill("#field-number", ean(200000000001))
    page.click("#card-form button[type=submit]")
    expect(page.locator("#error-number")).to_have_text("Another card has this number.")
    page.fill("#field-number", ean(200000000003))
    page.click("#card-form button[type=submit]")
    expect(page.locator("dd.points")).to_have_text("5")
    # Photo.
    with page.expect_file_chooser() as chooser:
        page.click("label[for=photo-file]")
    chooser.value.set_files({"name": "card.png", "mimeType": "image/png", "buffer": picture((90, 120, 160))})
    expect(page.locator("img[data-photo]")).to_be_visible()
    until(page, "document.querySelector('img[data-photo]').naturalWidth === 1200")
    bench.screenshot(page, "card")
    # A slow upload: the chosen photo and the progress are shown meanwhile.
    network = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 400_000}
    network.send("Network.enable")
    network.send("Network.emulateNetworkConditions", slow)
    with page.expect_file_chooser() as chooser:
        page.click("label[for=photo-file]")
    chooser.value.set_files({"name": "next.png", "mimeType": "image/png", "buffer": picture((20, 160, 90), (1000, 700))})
    expect(page.get_by_role("progressbar", name="Saving the photo")).to_be_visible()
    until(page, "document.querySelector('img.preview')?.naturalWidth === 1000")
    until(page, "(value => value > 0 && value < 100)(document.querySelector('progress').value)")
    network.send("Network.emulateNetworkConditions", {**slow, "uploadThroughput": -1})
    until(page, "document.querySelector('img[data-photo]')?.naturalWidth === 1000", timeout=40_000)
    expect(page.locator("img.preview")).to_have_count(0)
    with page.expect_file_chooser() as chooser:
        page.click("label[for=photo-file]")
    chooser.value.set_files({"name": "x.png", "mimeType": "image/png", "buffer": b"<svg onload='window.hacked=1'/>"})
    expect(page.locator("#toast-words")).to_contain_text("not a picture")
    page.problems.clear()
    # Delete and undo, with the photo and the star.
    page.click("[data-action=delete]")
    expect(page.locator("#toast-words")).to_have_text("Магнит is deleted.")
    until(page, "document.querySelectorAll('#list .row').length === 2")
    page.click("#toast-undo")
    expect(page.locator("#card-title")).to_have_text("Магнит")
    until(page, "document.querySelector('#list .row .shop').textContent === 'Магнит'")
    until(page, "document.querySelector('img[data-photo]')?.naturalWidth === 1000")
    # By keyboard: the toast stays while it has the focus.
    page.focus("[data-action=delete]")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('#list .row').length === 2")
    page.keyboard.press("Control+z")
    expect(page.locator("#card-title")).to_have_text("Магнит")
    until(page, "document.querySelectorAll('#list .row').length === 3")


def test_changes_of_others_appear_by_themselves(bench):
    device = bench.device("live")
    device.run("add", "Лента", ean(200000000001))
    device.run("add", "Магнит", ean(200000000002))
    web = bench.started(device.web())
    page, tab = bench.page(web.address), bench.page(web.address)
    for one in (page, tab):
        until(one, "document.querySelectorAll('#list .row').length === 2")
        one.evaluate("window.same = true; document.querySelector('#list .row').mark = 'first'")
    # The terminal.
    device.run("add", "Аптека", ean(200000000003))
    for one in (page, tab):
        until(one, "document.querySelectorAll('#list .row').length === 3", timeout=3000)
        expect_rows(one, ["Аптека", "Лента", "Магнит"])
        # The row of the other card is the same element.
        assert one.evaluate("[...document.querySelectorAll('#list .row')].map(e => e.mark ?? '')") == ["", "first", ""]
    # Another tab, with a card that both show.
    choose(page, "Лента")
    choose(tab, "Лента")
    tab.click("text=Edit")
    tab.fill("#field-points", "4711")
    started = time.monotonic()
    tab.click("#card-form button[type=submit]")
    expect(page.locator("dd.points")).to_have_text("4,711")
    print(f"    a change of another tab after {(time.monotonic() - started) * 1000:.0f} ms")
    # A change while the page waits for the response about a card.
    def delay(route):
        response = route.fetch()
        device.run("edit", ean(200000000002), "--points", "12")
        time.sleep(0.5)
        route.fulfill(response=response)

    page.route("**/parts/cards/*", delay)
    choose(page, "Магнит")
    page.unroute("**/parts/cards/*")
    expect(page.locator("dd.points")).to_have_text("12")
    page.wait_for_timeout(300)
    expect(page.locator("dd.points")).to_have_text("12")
    choose(page, "Лента")
    # A move: the row stays the same element.
    page.evaluate("[...document.querySelectorAll('#list .row')].find(e => e.textContent.includes('Лента')).mark = 'moved'")
    device.run("edit", ean(200000000001), "--shop", "Яблоко")
    until(page, "[...document.querySelectorAll('#list .row .shop')].pop().textContent === 'Яблоко'")
    assert page.evaluate("[...document.querySelectorAll('#list .row')].pop().mark") == "moved"
    expect(page.locator("#card-title")).to_have_text("Яблоко")
    device.run("delete", ean(200000000001))
    expect(page.locator("#part")).to_contain_text("This card was deleted")
    assert page.evaluate("window.same") and tab.evaluate("window.same"), "the page was loaded again"


def test_a_thousand_changes_of_another_process(bench):
    device = bench.device("thousand")
    file = os.path.join(bench.folder, "thousand.tsv")
    with open(file, "w") as output:
        output.write("name\n" + "\n".join(names(1500)) + "\n")
    device.run("import", file)
    web = bench.started(device.web("--manual"))
    page, found = bench.page(web.address), bench.page(web.address)
    expect(page.locator("#count")).to_have_text("1,500 cards")
    search(found, "ka")
    page.evaluate("window.same = true; document.getElementById('scroller').scrollTop = 20000")
    other = bench.started(device.web("--manual"))
    client = Client(other.address)
    generator = random.Random(5)
    ids = [row[0] for row in all_rows(page)]
    page.evaluate("document.getElementById('scroller').scrollTop = 20000")
    started = time.monotonic()
    for number in range(1000):
        choice = generator.randrange(10)
        if choice < 3:
            value = {"shop": generator.choice(names(50)) + " neu", "number": ean(700000000000 + number), "points": "1"}
            ids.append(client.json("POST", "/cards", value)["id"])
        elif choice < 5:
            client.json("DELETE", f"/cards/{ids.pop(generator.randrange(len(ids)))}")
        elif choice < 7:
            client.json("POST", f"/cards/{generator.choice(ids)}/star")
        else:
            value = {
                "shop": generator.choice(names(90)) + " ka", "number": ean(800000000000 + number),
                "points": str(number),
            }
            client.json("POST", f"/cards/{generator.choice(ids)}", value)
    print(f"    1,000 changes in {time.monotonic() - started:.1f} s")
    for one, words in ((page, ""), (found, "ka")):
        expected = other_rows(other, words)
        wait_for(lambda: count(one) == len(expected), what=f"the page has {count(one)} of {len(expected)} cards")
        one.wait_for_timeout(500)
        shown = all_rows(one)
        assert shown == expected, difference(shown, expected)
    assert page.evaluate("window.same")


def other_rows(web, words):
    """Returns all rows of a search, from a stream of its own."""
    client = Client(web.address)
    connection = client.stream(f"/events?q={urllib.parse.quote(words)}")
    text = b""
    while b"event: sync" not in text:
        text += connection.recv(65536)
    for event in text.decode(errors="ignore").split("\n\n"):
        if "event: list\n" in event:
            first = json.loads(event.split("data: ", 1)[1])
            break
    result = []
    while len(result) < first["count"]:
        path = f"/rows?stream={first['stream']}&from={len(result)}&to={len(result) + 300}"
        result += client.json("GET", path)["rows"]
    connection.close()
    return [[row["id"], row["shop"], row["owner"], row["points"]] for row in result]


def difference(shown, expected):
    for position, (one, two) in enumerate(zip(shown, expected)):
        if one != two:
            return f"row {position} is {one}, not {two}"
    return f"{len(shown)} rows, not {len(expected)}"


def test_two_devices_and_a_server(bench):
    server = Server(bench.cards, bench.folder)
    bench.programs.append(server.program)
    devices = [bench.device("phone"), bench.device("tablet")]
    # The second device needs no other port, and both have sessions in one browser.
    webs = [bench.started(device.web("--manual", port=None)) for device in devices]
    assert webs[0].address != webs[1].address
    both = bench.page(webs[0].address)
    both.goto(webs[1].address)
    both.goto(webs[0].address)
    expect(both.locator("#count")).to_have_text("0 cards")
    assert len(both.context.cookies()) == 2
    both.problems.clear()
    both.close()
    phone, tablet = [bench.page(web.address) for web in webs]
    # Without a server.
    add(phone, "Лента", 200000000001, "40")
    expect(phone.locator("#sync-words")).to_contain_text("on this device only")
    expect(phone.locator("#card-state")).to_have_text("not sent")
    # A login on the page, with a mistake at first.
    expect(phone.locator("#person")).to_have_text("Me")
    phone.click("#sync-line")
    phone.locator("#part").get_by_role("link", name="Log in").click()
    expect(phone.locator("#card-title")).to_be_focused()
    accessible(phone, "log in")
    phone.get_by_label("Your name").fill("Ada")
    phone.get_by_label("Token").fill("ada")
    phone.get_by_label("Server", exact=True).fill("till.local")
    phone.keyboard.press("Enter")
    expect(phone.locator("#error-server")).to_contain_text("not a valid server URL")
    expect(phone.locator("#field-server")).to_be_focused()
    phone.problems.clear()
    bench.screenshot(phone, "login")
    phone.get_by_label("Server", exact=True).fill(server.url)
    phone.keyboard.press("Enter")
    expect(phone.locator("#part")).to_contain_text(f"Ada, at {server.url}")
    expect(phone.locator("#person")).to_have_text("Ada")
    phone.click("#list .row a")
    # The page follows a login in a terminal.
    devices[1].run("login", "Maria", "--server", server.url, "--token", "maria", "--keep")
    expect(tablet.locator("#person")).to_have_text("Maria")
    for page in (phone, tablet):
        expect(page.locator("#sync-now")).to_be_visible()

    def sync(page):
        page.click("#sync-now")
        page.wait_for_timeout(150)
        expect(page.locator("#sync-now")).to_be_enabled()

    sync(phone)
    expect(phone.locator("#card-state")).to_have_text("on the server")
    sync(tablet)
    until(tablet, "document.querySelectorAll('#list .row').length === 1")
    choose(tablet, "Лента")

    def edit(page, points):
        page.click("text=Edit")
        page.fill("#field-points", points)
        page.click("#card-form button[type=submit]")
        expect(page.locator("dd.points")).to_have_text(f"{int(points):,}")

    # A conflict, decided for each side, and by property.
    for choice, mine, theirs, before, result in (
        ("mine", 1500, 1200, "40", "1,500"), ("theirs", 2500, 2200, "1,500", "2,200"),
        ("base", 3500, 3200, "2,200", "2,200"), ("server", 4500, 4200, "2,200", "4,200"),
    ):
        edit(phone, str(theirs))
        edit(tablet, str(mine))
        sync(phone)
        expect(phone.locator("#card-state")).to_have_text("on the server")
        sync(tablet)
        expect(tablet.locator("#card-state")).to_have_text("conflict")
        expect(tablet.locator("#sync-words")).to_contain_text("needs a decision")
        tablet.click("#sync-line")
        line = tablet.locator(".conflict tr.disputed")
        expect(line).to_have_count(1)
        assert line.locator("td").all_inner_texts() == [before, f"{mine:,}", f"{theirs:,}"]
        if choice == "mine":
            bench.screenshot(tablet, "conflict")
            accessible(tablet, "conflict")
            # All sides fit beside each other on a phone.
            tablet.set_viewport_size({"width": 390, "height": 800})
            assert tablet.evaluate("document.documentElement.scrollWidth") <= 390
            assert tablet.evaluate("(e => e.scrollWidth - e.clientWidth)(document.querySelector('.sides'))") <= 0
            accessible(tablet, "conflict, phone")
            bench.screenshot(tablet, "conflict-phone")
            tablet.set_viewport_size({"width": 1280, "height": 800})
        if choice in ("mine", "theirs"):
            tablet.click(f"[data-choice={choice}]")
        else:
            # Nothing is chosen for a value that both sides have changed. Choices survive a change of the part.
            expect(tablet.locator(".conflict input:checked")).to_have_count(0)
            tablet.get_by_role("radio", name=f"Points, {'before' if choice == 'base' else 'theirs'}:").check()
            devices[1].run("star", ean(200000000001))
            expect(tablet.locator(".queue")).to_contain_text("star of Maria")
            expect(tablet.locator(f".conflict input[value={choice}]")).to_be_checked()
            tablet.get_by_role("button", name="Use the chosen values").click()
        expect(tablet.locator(".conflict")).to_have_count(0)
        expect(tablet.locator("#part")).to_contain_text("No change is waiting.")
        choose(tablet, "Лента")
        expect(tablet.locator("dd.points")).to_have_text(result)
        sync(phone)
        expect(phone.locator("dd.points")).to_have_text(result)
    # A photo: it waits for its upload, and arrives.
    with phone.expect_file_chooser() as chooser:
        phone.click("label[for=photo-file]")
    chooser.value.set_files({"name": "card.png", "mimeType": "image/png", "buffer": picture((160, 90, 90))})
    expect(phone.locator(".photo-state")).to_contain_text("not sent yet")
    sync(phone)
    expect(phone.locator(".photo-state")).to_contain_text("on the server")
    expect(phone.locator("#card-state")).to_have_text("on the server")
    sync(tablet)
    expect(tablet.locator("img[data-photo]")).to_be_visible()
    until(tablet, "document.querySelector('img[data-photo]').naturalWidth === 1200")
    # The server is gone, and returns.
    server.stop()
    edit(phone, "3000")
    phone.click("#sync-now")
    expect(phone.locator("#problem")).to_contain_text("can't be reached")
    expect(phone.locator("#problem")).to_contain_text("Your changes are kept")
    bench.screenshot(phone, "unreachable")
    assert phone.locator("#card-state").inner_text() in ("not sent", "not sent, tried again soon")
    server.start()
    bench.programs.append(server.program)
    sync(phone)
    expect(phone.locator("#problem")).to_be_hidden()
    expect(phone.locator("#card-state")).to_have_text("on the server")
    # Automatic sync on both: a change arrives without a button.
    for page in (phone, tablet):
        page.click("#sync-line")
        page.check("#automatic")
        page.click("#list .row a")
        expect(page.locator("#card-title")).to_have_text("Лента")
    expect(tablet.locator("dd.points")).to_have_text("3,000", timeout=30_000)
    edit(tablet, "3333")
    expect(phone.locator("dd.points")).to_have_text("3,333", timeout=40_000)


def test_an_encrypted_store_asks_for_the_passphrase(bench):
    device = bench.device("secret", key="open sesame")
    device.run("add", "Лента", ean(200000000001))
    locked = Device(bench.cards, device.path)
    web = bench.started(locked.web())
    page = bench.page(web.address)
    expect(page.locator("label[for=secret]")).to_have_text("Passphrase of secret.tandem")
    expect(page.locator("#secret")).to_be_focused()
    bench.screenshot(page, "passphrase")
    accessible(page, "passphrase")
    page.fill("#secret", "wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#message")).to_have_text("That is not right.")
    page.fill("#secret", "open sesame")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('#list .row').length === 1")
    other = bench.page(web.address)
    expect(other.locator("#secret")).to_be_visible()
    page.click("#leave")
    expect(page.locator("#secret")).to_be_visible()
    # The wrong passphrase is answered with 401.
    page.expected = "401"


def test_keyboard_and_screen_reader(bench):
    web = bench.started(bench.large_store().web("--manual"))
    page = bench.page(web.address)
    expect(page.locator("#count")).to_have_text(f"{CARDS:,} cards")
    assert page.get_attribute("#count", "aria-live") == "polite"
    # The order of the focus: skip link, sync, search, new card, list.
    order = []
    for _ in range(6):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.className || 'row'"))
    assert order[0] == "skip" and "search" in order and order.index("search") < order.index("add"), order
    assert order[-1] == "row", order
    page.keyboard.press("/")
    page.focus("#search")
    page.keyboard.press("ArrowDown")
    until(page, "document.activeElement.dataset.position === '0'")
    for key, position in (("ArrowDown", 1), ("PageDown", 9), ("End", CARDS - 1), ("Home", 0)):
        page.keyboard.press(key)
        until(page, f"document.activeElement.dataset.position === '{position}'")
    setsize = page.evaluate("document.activeElement.parentElement.getAttribute('aria-setsize')")
    assert setsize == str(CARDS)
    shop = page.evaluate("document.activeElement.querySelector('.shop').textContent")
    page.keyboard.press("Enter")
    expect(page.locator("#card-title")).to_have_text(shop)
    expect(page.locator("#card-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#card-title")).to_have_count(0)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for path in ("/", "/new", "/sync"):
            page.goto(web.address + path)
            until(page, "document.querySelectorAll('#list .row:not(.blank)').length > 5")
            if path != "/":
                page.wait_for_selector("#card-title")
            accessible(page, f"{path}, {scheme}")
        page.locator("#list .row").nth(3).click()
        page.wait_for_selector("#card-title")
        accessible(page, f"card, {scheme}")
        bench.screenshot(page, f"desk-{scheme}")
    # A phone: one column.
    small = bench.page(web.address, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    until(small, "document.querySelectorAll('#list .row:not(.blank)').length > 5")
    assert small.evaluate("document.documentElement.scrollWidth") <= 390
    expect(small.locator("#part")).to_be_hidden()
    accessible(small, "list, phone")
    bench.screenshot(small, "phone-list")
    small.locator("#list .row").nth(2).click()
    expect(small.locator("#card-title")).to_be_visible()
    expect(small.locator("#list")).to_be_hidden()
    assert small.evaluate("document.documentElement.scrollWidth") <= 390
    accessible(small, "card, phone")
    bench.screenshot(small, "phone-card")
    small.click(".back")
    expect(small.locator("#list")).to_be_visible()


def test_markup_in_every_field(bench):
    device = bench.device("markup")
    device.run("add", "Лента", ean(200000000001))
    for number, text in enumerate(HOSTILE):
        device.run("add", text, ean(200000000100 + number), "--owner", text)
    web = bench.started(device.web("--manual"))
    page = bench.page(web.address)
    until(page, f"document.querySelectorAll('#list .row').length === {len(HOSTILE) + 1}")
    wait_for(lambda: sorted(rows(page)) == sorted(HOSTILE + ["Лента"]), what=f"the rows are {rows(page)}")
    for text in HOSTILE:
        search(page, "")
        page.evaluate(
            "text => [...document.querySelectorAll('#list .row')].find(e => e.querySelector('.shop').textContent === text)"
            ".firstChild.click()", text)
        until(page, "text => document.getElementById('card-title')?.textContent === text", arg=text)
        page.click("text=Edit")
        until(page, "text => document.getElementById('field-shop')?.value === text", arg=text)
        page.click("#sync-line")
        page.wait_for_selector(".sync-view")
        page.fill("#search", text)
        page.wait_for_timeout(50)
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.querySelectorAll('#part script, #list script, #part img, [onfocus], [onerror]').length") == 0


def is_open(client):
    """Whether a server has a connection of a client open. The client itself can't see the end before it reads."""
    port, own = client.getpeername()[1], client.getsockname()[1]
    with open("/proc/net/tcp") as table:
        for line in table.readlines()[1:]:
            local, remote, state = line.split()[1:4]
            if int(local.split(":")[1], 16) == port and int(remote.split(":")[1], 16) == own:
                return state == "01"
    return False


def test_hostile_clients(bench):
    device = bench.device("hostile")
    device.run("add", "Лента", ean(200000000001))
    web = bench.started(device.web("--manual"))
    client = Client(web.address)

    def write_time(first):
        started = time.monotonic()
        for number in range(50):
            client.json("POST", "/cards", {"shop": "x", "number": ean(first + number), "points": "1"})
        return time.monotonic() - started

    write_time(300000000000)
    quiet = write_time(310000000000)
    before = web.memory()
    # Foreign origins, names and missing tokens.
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert client.send("POST", "/cards", {"shop": "x"}, headers=headers)[0] == 403
    assert client.send("GET", "/", headers={"Host": "evil.example"})[0] == 421
    token, client.token = client.token, "x"
    assert client.send("POST", "/cards", {"shop": "x"})[0] == 403
    client.token = token
    # A thousand streams that are never read.
    streams = []
    for _ in range(1000):
        try:
            streams.append(client.stream())
        except OSError:
            break
    print(f"    {len(streams)} streams opened, which are not read")
    page = bench.page(web.address)
    occupied = write_time(320000000000)
    grown = web.memory() - before
    print(f"    50 writes: {quiet:.2f} s without streams, {occupied:.2f} s with them; memory +{grown:.0f} MiB")
    assert occupied < 3 * quiet + 1, "writers slow down"
    assert grown < 150, f"the memory grew by {grown:.0f} MiB"
    for stream in streams:
        stream.close()
    # More sessions than the server keeps: the open page's is not dropped.
    for _ in range(300):
        client = Client(web.address)
    add(page, "Аптека", 329000000000)
    # A client that never reads: its events fill the buffers, and it is closed.
    stream = client.stream()
    end = time.monotonic() + 90
    closed = False
    number = 330000000000
    while time.monotonic() < end and not closed:
        write_time(number)
        number += 50
        closed = not is_open(stream)
    assert closed, "a client that never reads stays connected"
    stream.close()
    # A body without an end.
    host, port = client.host.split(":")
    card = client.json("POST", "/cards", {"shop": "photo", "number": ean(390000000000), "points": "1"})["id"]
    with socket.create_connection((host, int(port)), timeout=20) as upload:
        upload.sendall(
            f"PUT /cards/{card}/photo HTTP/1.1\r\nHost: {client.host}\r\nCookie: {client.cookie}\r\n"
            f"X-Cards-Token: {client.token}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        piece = picture((1, 1, 1), (200, 200))
        sent = 0
        try:
            while sent < 8 << 30:
                upload.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                sent += len(piece)
        except OSError:
            pass
        assert sent < 8 << 30, "an upload without an end was received to the end"
    assert web.memory() - before < 200
    page.reload()
    expect(page.locator("#count")).to_contain_text("cards")
    page.problems.clear()


def run_tests(module, description):
    """Runs the tests of a module with the options of the command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("filter", nargs="?", default="")
    parser.add_argument("--cards", required=True)
    parser.add_argument("--tandem", help="the command `tandem`, for the tests of its pages")
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--screenshots", default="screenshots")
    options = parser.parse_args()
    os.makedirs(options.screenshots, exist_ok=True)
    tests = [
        function for name, function in inspect.getmembers(module, inspect.isfunction)
        if name.startswith("test_") and options.filter in name and function.__module__ == module.__name__
    ]
    tests.sort(key=lambda function: function.__code__.co_firstlineno)
    folder = tempfile.mkdtemp(prefix="cards-browser-")
    failed = []
    with sync_playwright() as playwright:
        bench = Bench(options, playwright, folder)
        for test in tests:
            started = time.monotonic()
            print(f"browser: {test.__name__[5:].replace('_', ' ')}", flush=True)
            try:
                test(bench)
                error = None
            except Exception:
                error = traceback.format_exc()
                for number, page in enumerate(bench.pages):
                    try:
                        page.screenshot(path=os.path.join(options.screenshots, f"failed-{test.__name__}-{number}.png"))
                    except Exception:
                        pass
            problems = bench.end()
            if problems and not error:
                error = "The pages reported problems:\n" + "\n".join(problems)
            if error:
                failed.append(test.__name__)
                print(error + "\n" + "\n".join(problems))
            print(f"    {'FAILED' if error else 'passed'} in {time.monotonic() - started:.1f} s", flush=True)
        bench.browser.close()
    shutil.rmtree(folder, ignore_errors=True)
    if failed:
        sys.exit(f"browser: {len(failed)} of {len(tests)} failed: {', '.join(failed)}")
    print(f"browser: all passed, {len(tests)} tests")


if __name__ == "__main__":
    run_tests(sys.modules[__name__], __doc__)
