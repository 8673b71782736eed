import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { DAY, HOUR, isoTime } from '../../src/lib/index.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { until } from '../../testkit/until.ts'
import { clock } from './support/clock.ts'
import { startDemo } from './support/demo.ts'
import { sideways } from './support/forms.ts'
import {
  assertAccessible,
  chiefly,
  follow,
  inOnePage,
  openPage,
  staysAccessible,
  untilTrue,
  VARIANTS,
} from './support/page.ts'
import { screenshot } from './support/screenshot.ts'

const CROSSHAIRS = "Array.from(document.querySelectorAll('[data-crosshair]'), ({ dataset }) => dataset.crosshair)"

const CHARTS = [
  /^Events by name over time/,
  /^Tag health over time/,
  /^Execution time of all tags/,
  /^User data over time/,
  /^E-commerce data over time/,
  /^Consent over time/,
  /^Identifiers over time/,
  /^Faults of values over time/,
  /^Refused by vendors over time/,
]

/** In the order in which the page made them: ECharts numbers its charts, those that were thrown away too. */
const MADE =
  "Array.from(document.querySelectorAll('[_echarts_instance_]'), (place) => Number(place.getAttribute('_echarts_instance_').slice(3))).sort((a, b) => a - b)"

/** The middle of a chart. */
async function middleOf(place: Locator): Promise<{ x: number; y: number }> {
  const { width = 0, height = 0 } = (await place.boundingBox()) ?? {}
  return { x: width / 2, y: height / 2 }
}

/** A chart is drawn, and not only its place kept. */
const chart = (page: Page, name: RegExp) => page.getByRole('img', { name }).locator('canvas')

test('the page of a site of the demo store', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)
  const site = demo.sites.find(({ name }) => name === 'Feldkamp Outdoor')
  assert.ok(site !== undefined)
  const path = `/sites/${site.id}`

  for (const variant of VARIANTS) {
    // What is under the pointer, and behind a tab, is tried in one of them on every change.
    const options = chiefly('desktop').includes(variant) ? {} : AT_NIGHT
    await t.test(`the page in ${variant.scheme} on a ${variant.device}`, async (t) => {
      const { page } = await open(t, path, variant)

      await t.test(
        `all charts are there in ${variant.scheme} on a ${variant.device}, and axe finds nothing`,
        async () => {
          await page.getByRole('heading', { level: 1, name: site.name }).waitFor()
          await page
            .getByRole('article')
            .filter({ hasText: /Meta CAPI/ })
            .getByText(/^(since|started) /)
            .waitFor()
          for (const name of CHARTS) await chart(page, name).first().waitFor()
          await page
            .getByRole('img', { name: /^Last \d+ result/ })
            .first()
            .waitFor()
          await assertAccessible(page)
          assert.equal(await sideways(page), 0, 'the page scrolls sideways')
          await screenshot(page, 'site', variant)
        },
      )

      await t.test(
        `one crosshair shows one time on every chart in ${variant.scheme} on a ${variant.device}`,
        options,
        async () => {
          for (const name of CHARTS) await chart(page, name).first().waitFor()
          const events = page.getByRole('img', { name: /^Events by name over time/ })
          await events.hover({ position: await middleOf(events) })
          const times = await until('all charts show a crosshair', async () => {
            const found = await page.evaluate<string[]>(CROSSHAIRS)
            return found.length === CHARTS.length ? found : undefined
          })
          const [first = ''] = times
          for (const time of times) {
            assert.ok(Math.abs(Date.parse(time) - Date.parse(first)) < 60_000, times.join(' '))
          }
          await page.mouse.move(0, 0)
          await page.locator('[data-crosshair]').first().waitFor({ state: 'detached' })
        },
      )

      await t.test(
        `a cell of the heat map says its numbers in ${variant.scheme} on a ${variant.device}`,
        options,
        async () => {
          const heat = page.getByRole('img', { name: /^Tag health over time/ })
          await heat.locator('canvas').first().waitFor()
          // The first row; on a phone its name is above it.
          const cell = { x: (await middleOf(heat)).x, y: variant.device === 'phone' ? 38 : 12 }
          await heat.hover({ position: cell })
          await heat.getByText(/^\d\d:\d\d–\d\d:\d\d, /).waitFor()
          await heat.getByText(/^[\d,]+ of [\d,]+ failed \([\d.]+\s%\)$/).waitFor()
          await heat.click({ position: cell })
          await page.waitForURL((url) => url.searchParams.has('at') && url.searchParams.has('tag'))
          await page.getByTitle('Forget this time').click()
          await page.waitForURL((url) => !url.searchParams.has('at') && url.searchParams.has('tag'))
        },
      )
    })

    await t.test(
      `a tag, the matrix and the payloads in ${variant.scheme} on a ${variant.device}, too`,
      options,
      async (t) => {
        const { page } = await open(t, `${path}?tag=Meta+CAPI&compare=previous`, variant)
        await page.getByRole('heading', { name: 'Tag Meta CAPI' }).waitFor()
        await chart(page, /^Executions of Meta CAPI by outcome/)
          .first()
          .waitFor()
        await page.getByRole('region', { name: 'Events on which Meta CAPI ran' }).waitFor()
        await assertAccessible(page)
        await screenshot(page, 'site-tag', variant)
        for (const [tab, heading] of [
          ['Tags and events', 'Tags by event'],
          ['Last payloads', 'Refused'],
        ] as const) {
          await page.getByRole('tab', { name: tab }).click()
          await page.getByRole('heading', { name: heading, exact: true }).waitFor()
          await assertAccessible(page)
          assert.equal(await sideways(page), 0, `${tab} scrolls sideways`)
        }
      },
    )
  }

  await t.test('a tag leads to its events, an event to its tags, and "back" out of it again', async (t) => {
    const { page } = await open(t, path)
    await page
      .getByRole('list', { name: 'Tag health' })
      .getByRole('button', { name: /^Meta CAPI\b(?! Funnel)/ })
      .click()
    await page.waitForURL('**/sites/*?tag=Meta+CAPI')
    await page.getByRole('heading', { name: 'Tag Meta CAPI' }).waitFor()
    const title = `Meta CAPI · ${site.name} · Tagwarden`
    await untilTrue(page, `document.title.endsWith(${JSON.stringify(title)})`)
    await page.getByRole('row', { name: /^purchase/ }).press('Enter')
    await page.waitForURL('**/sites/*?event=purchase')
    await page
      .getByRole('region', { name: 'Tags that ran on purchase' })
      .getByText('Meta CAPI', { exact: true })
      .waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Tag Meta CAPI' }).waitFor()
    await page.getByRole('button', { name: 'Whole site' }).click()
    await page
      .getByRole('list', { name: 'Events by name' })
      .getByRole('button', { name: /^purchase/ })
      .click()
    await page.getByRole('heading', { name: 'Event purchase' }).waitFor()
    await page.getByRole('tab', { name: 'Tags and events' }).click()
    await page.getByTitle('Look at Meta CAPI on purchase').click()
    await page.waitForURL(
      ({ searchParams: at }) => at.get('tag') === 'Meta CAPI' && at.get('event') === 'purchase' && !at.has('tab'),
    )
    await chart(page, /^Executions of Meta CAPI on purchase by outcome/)
      .first()
      .waitFor()
    await staysAccessible(page)
    await page.getByRole('heading', { name: 'Tag Meta CAPI on event purchase' }).getByText('Meta CAPI').click()
    await page.getByRole('heading', { name: 'Tag Meta CAPI', exact: true }).waitFor()
    const heat = page.getByRole('img', { name: /^Meta CAPI by event over time/ })
    await heat.locator('canvas').first().waitFor()
    await heat.click({ position: { x: (await middleOf(heat)).x, y: 12 } })
    await page.waitForURL(({ searchParams }) => ['tag', 'event', 'at'].every((name) => searchParams.has(name)))
    await page.getByRole('button', { name: 'Whole site' }).click()
    await page.getByRole('tab', { name: 'Tags and events' }).click()
    await page.getByRole('table').getByRole('button', { name: 'GA4' }).click()
    await page.getByRole('heading', { name: 'Tag GA4' }).waitFor()
  })

  // With a profile of its own, whose time stands still, it is a tenth of this file; a page that asks twice is no page that is wrong.
  await t.test('each report is asked for once, and once a minute; each chart is made once', AT_NIGHT, async (t) => {
    const { page } = await openPage(t, demo.url, 'about:blank')
    await page.clock.install({ time: clock.now() })
    const asked: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname.startsWith(`/api/monitoring/sites/${site.id}/`)) asked.push(pathname.split('/').at(-1) + search)
    })
    await page.goto(demo.url + path)
    for (const name of CHARTS) await chart(page, name).first().waitFor()
    await page.getByRole('region', { name: 'What changed' }).waitFor()
    const first = asked.splice(0)
    assert.ok(first.length > CHARTS.length, first.join('\n'))
    assert.deepEqual(first.toSorted(), [...new Set(first)].sort())
    const made = await page.evaluate<number[]>(MADE)
    assert.deepEqual(
      made,
      made.map((_, n) => (made[0] ?? 0) + n),
    )
    await page.clock.runFor(60_000)
    await until('each report is asked for again', () => first.every((one) => asked.includes(one)) || undefined)
    assert.deepEqual(asked.toSorted(), first.toSorted())
    assert.deepEqual(await page.evaluate<number[]>(MADE), made)
  })

  await t.test('the address holds range, tab and comparison', async (t) => {
    const { page } = await open(t, path)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('menuitem', { name: 'With the period before' }).click()
    // What is drawn as a dashed line has a dashed sign.
    await page.locator('span', { hasText: 'p95 before' }).locator('[stroke-dasharray]').waitFor({ state: 'attached' })
    await page.waitForURL('**/sites/*?compare=previous')
    await page
      .getByText(/^was \d+$/)
      .first()
      .waitFor()
    await page.getByRole('tab', { name: 'Tags and events' }).click()
    await page.getByRole('button', { name: /^Time range/ }).click()
    await page.getByRole('button', { name: 'Last 6 hours' }).click()
    await page.waitForURL((url) => url.searchParams.get('range') === '6h')
    await page.reload()
    await page.getByRole('button', { name: 'Time range: Last 6 hours' }).waitFor()
    await page.getByRole('button', { name: 'Compare', pressed: true }).waitFor()
    await page.getByRole('tab', { name: 'Tags and events', selected: true }).waitFor()
    await page.getByRole('region', { name: 'Tags' }).getByText(/^was /).first().waitFor()
  })

  await t.test(
    'a window before of which the counts are gone is said, and this one is shown all the same',
    async (t) => {
      const from = isoTime(clock.now() - 300 * DAY)
      const window = new URLSearchParams({ from, to: isoTime(clock.now()), compare: 'previous' })
      const { page, browserErrors } = await open(t, `${path}?${window}`)
      await page.getByText(/^What it is compared with cannot be shown/).waitFor()
      await chart(page, /^Events by name over time/)
        .first()
        .waitFor()
      // The browser logs the answer that refused the comparison.
      assert.ok(
        browserErrors.every((text) => /status of 400/.test(text)),
        browserErrors.join('\n'),
      )
      browserErrors.length = 0
    },
  )

  await t.test(
    'the range moves by half of itself, begins at what changed, and is copied with fixed times',
    async (t) => {
      const { page } = await open(t, path)
      assert.equal(await page.getByRole('button', { name: 'Later' }).isDisabled(), true)
      await page.getByRole('button', { name: 'Earlier' }).click()
      await page.waitForURL((url) => url.searchParams.has('to'))
      const { searchParams } = new URL(page.url())
      assert.ok(clock.now() - Date.parse(searchParams.get('to') ?? '') > 11 * HOUR)
      await page.getByRole('button', { name: 'Later' }).click()
      await page.waitForURL((url) => url.searchParams.get('to') !== searchParams.get('to'))
      await page.getByRole('button', { name: /^Time range/ }).click()
      await page.getByRole('button', { name: 'Since the first open alert' }).click()
      await page.waitForURL((url) => url.searchParams.has('from') && !url.searchParams.has('to'))
      await page.getByRole('button', { name: /^Time range: Since / }).click()
      await page.getByRole('button', { name: 'Copy link with fixed times' }).waitFor()
      await staysAccessible(page)
      await page.getByRole('button', { name: 'Copy link with fixed times' }).click()
      await page.getByText('Copied', { exact: true }).first().waitFor()
    },
  )

  await t.test('of six hours', async (t) => {
    const { page, browserErrors } = await open(t, `${path}?range=6h`)

    await t.test('the numbers of the view are downloaded as CSV', async () => {
      await page.getByRole('button', { name: 'CSV' }).click()
      const item = page.getByRole('menuitem', { name: 'Failures by tag' })
      const href = (await item.getAttribute('href')) ?? ''
      const [download] = await Promise.all([page.waitForEvent('download'), item.click()])
      assert.match(download.suggestedFilename(), /^feldkamp-outdoor-failures-.*\.csv$/)
      const csv = (await demo.call('GET', href)).text
      assert.match(csv, /^t,key,value\n/)
      assert.match(csv, /,Meta CAPI,\d+\n/)
    })

    await t.test('a week ago lies under the charts, and its figures beside those of now', async () => {
      await page.getByRole('button', { name: 'Compare' }).click()
      const asked = page.waitForRequest((request) => {
        const { pathname, searchParams } = new URL(request.url())
        const from = Date.parse(searchParams.get('from') ?? '')
        return pathname.endsWith('/timeseries') && Math.abs(clock.now() - 6 * HOUR - 7 * DAY - from) < HOUR
      })
      await page.getByRole('menuitem', { name: 'With the same time a week ago' }).click()
      await page.waitForURL('**/sites/*?range=6h&compare=week')
      await asked
      await page.getByRole('button', { name: 'Compare', pressed: true }).click()
      await page.getByRole('menuitem', { name: 'With nothing' }).click()
      await page.waitForURL((url) => !url.searchParams.has('compare'))
      // The browser logs the answer that minutes are no longer kept, after which hours are asked for.
      assert.ok(
        browserErrors.every((text) => /status of 400/.test(text)),
        browserErrors.join('\n'),
      )
      browserErrors.length = 0
    })

    await t.test('dragging over a chart zooms into that time, Escape and a double click lead back', async () => {
      for (const name of CHARTS) await chart(page, name).first().waitFor()
      const events = page.getByRole('img', { name: /^Events by name over time/ })
      const drag = async (from: number, to: number, end: () => Promise<void>) => {
        const { x = 0, y = 0, width = 0, height = 0 } = (await events.boundingBox()) ?? {}
        await page.mouse.move(x + from * width, y + height / 2)
        await page.mouse.down()
        await page.mouse.move(x + to * width, y + height / 2, { steps: 5 })
        await end()
      }
      // A chart that is drawn again while the pointer is down forgets it, as it may on a busy machine.
      const zoom = (from: number, to: number, isThere: (url: URL) => boolean) =>
        until('the chart zooms', async () => {
          await drag(from, to, () => page.mouse.up())
          return page.waitForURL(isThere, { timeout: 20_000 }).then(
            () => true,
            () => undefined,
          )
        })
      const isDrawn = () =>
        chart(page, /^Events by name over time/)
          .first()
          .waitFor()
      const length = () => {
        const { searchParams } = new URL(page.url())
        return Date.parse(searchParams.get('to') ?? '') - Date.parse(searchParams.get('from') ?? '')
      }
      await drag(0.3, 0.6, async () => {
        await page.keyboard.press('Escape')
        await page.mouse.up()
      })
      assert.equal(new URL(page.url()).searchParams.get('range'), '6h', 'Escape drops what is being dragged')
      await zoom(0.6, 0.3, (url) => url.searchParams.has('from') && !url.searchParams.has('range'))
      assert.ok(Math.abs(length() - 0.3 * 6 * HOUR) < 0.06 * 6 * HOUR, `${length()} ms of six hours`)
      const once = page.url()
      await page.getByText(/^by name, per [12]\smin$/).waitFor()
      await isDrawn()
      await zoom(0.4, 0.8, (url) => url.href !== once)
      await page.keyboard.press('Escape')
      await page.waitForURL(once)
      await page.getByText(/^by name, per [12]\smin$/).waitFor()
      await isDrawn()
      await zoom(0.4, 0.8, (url) => url.href !== once)
      // Above the bars: a click on one leads to its event.
      await events.dblclick({ position: { x: (await middleOf(events)).x, y: 8 } })
      await page.waitForURL((url) => url.searchParams.get('range') === '6h')
    })
  })

  await t.test('what is done on the page', async (t) => {
    const { page, browserErrors } = await open(t, path)

    await t.test(
      '"n" writes down what happened: it stands on the charts and in the list, until it is deleted',
      async () => {
        for (const name of CHARTS) await chart(page, name).first().waitFor()
        await page.keyboard.press('n')
        const dialog = page.getByRole('dialog', { name: 'What happened?' })
        await dialog.getByLabel('What happened').fill('Consent banner changed')
        await dialog.getByLabel('Link').fill('not a link')
        await dialog.getByRole('button', { name: 'Annotate' }).click()
        await dialog.getByText(/^must be /).waitFor()
        await staysAccessible(page)
        await dialog.getByLabel('Link').fill('https://git.example/banner')
        await dialog.getByRole('button', { name: 'Annotate' }).click()
        await dialog.waitFor({ state: 'detached' })
        const entry = page.getByRole('list', { name: 'What changed' }).getByRole('listitem').first()
        assert.equal(await entry.getByRole('link').getAttribute('href'), 'https://git.example/banner')
        await staysAccessible(page)
        await entry.getByRole('button', { name: 'Delete Consent banner changed' }).click()
        await entry.getByText('Consent banner changed').waitFor({ state: 'detached' })
        // The browser logs the answer that refused the link.
        assert.ok(
          browserErrors.every((text) => /status of 400/.test(text)),
          browserErrors.join('\n'),
        )
        browserErrors.length = 0
      },
    )

    await t.test('a time range in the hour that comes twice says which one counts, and keeps it', async () => {
      const range = '?from=2026-10-25T01:30:00.000Z&to=2026-10-25T05:00:00.000Z'
      await follow(page, path + range)
      await page.getByRole('button', { name: /^Time range: 25 Oct/ }).click()
      await page.getByText('02:30 comes twice that day: the second counts').waitFor()
      await page.getByRole('button', { name: 'Show', exact: true }).click()
      await page.getByText('02:30 comes twice that day: the second counts').waitFor({ state: 'detached' })
      assert.equal(new URL(page.url()).searchParams.get('from'), '2026-10-25T01:30:00.000Z')
      await follow(page, path)
      for (const name of CHARTS) await chart(page, name).first().waitFor()
    })

    await t.test('a typed time range says at which end it is missing', async () => {
      await page.getByRole('button', { name: /^Time range/ }).click()
      const [from, to] = [page.getByLabel('From', { exact: true }), page.getByLabel('To', { exact: true })]
      await from.fill('')
      const faultOf = async (field: typeof from) => {
        const id = (await field.getAttribute('aria-describedby')) ?? ''
        return id === '' ? '' : await page.locator(`[id="${id}"]`).textContent()
      }
      await untilTrue(page, `document.querySelectorAll('form [aria-invalid=true]').length === 1`)
      assert.deepEqual([await faultOf(from), await faultOf(to)], ['is missing', ''])
      await page.keyboard.press('Escape')
    })

    await t.test('the score says what it is made of, and closes by Escape', async () => {
      const button = page.getByRole('button', { name: 'Score: what it is made of' })
      await button.click()
      await page.getByRole('row', { name: /^transaction id/ }).waitFor()
      await staysAccessible(page)
      await page.keyboard.press('Escape')
      await page.getByRole('row', { name: /^transaction id/ }).waitFor({ state: 'detached' })
      await untilTrue(page, 'document.activeElement?.ariaLabel === "Score: what it is made of"')
    })

    await t.test('an alert is acknowledged and silenced where it stands, in two clicks each', async () => {
      const banner = page.getByRole('article').filter({ hasText: /Meta CAPI/ })
      await banner.getByRole('button', { name: 'Acknowledge' }).click()
      await banner.getByText(/^acknowledged by/).waitFor()
      assert.equal(await banner.getByRole('button', { name: 'Acknowledge' }).count(), 0)
      await page.getByText('1 alert acknowledged', { exact: true }).waitFor()
      await banner.getByRole('button', { name: 'Silence' }).click()
      await page.getByRole('menuitemradio', { name: /Meta CAPI/, checked: true }).waitFor()
      await page.getByRole('menuitemradio', { name: 'All of this check' }).waitFor()
      await page.getByRole('menuitem', { name: '1 hour' }).click()
      await banner.getByText(/^silent until/).waitFor()
      await staysAccessible(page)
      await banner.getByRole('button', { name: 'End the silence' }).click()
      await banner.getByRole('button', { name: 'Silence' }).waitFor()
    })

    await t.test('alerts for which there is no room are a click away', async () => {
      await page.route(/\/api\/alerts\?.*resolved=false/, async (route) => {
        const response = await route.fetch()
        const [alert] = (await response.json()) as { id: string }[]
        assert.ok(alert !== undefined)
        const json = Array.from({ length: 7 }, (_, n) => ({ ...alert, id: `${alert.id.slice(0, -1)}${n}` }))
        await route.fulfill({ response, json })
      })
      await page.evaluate('void __TSR_ROUTER__.options.context.queryClient.refetchQueries({ queryKey: ["alerts"] })')
      await page.getByRole('link', { name: 'and 2 more' }).click()
      await page.waitForURL(
        (url) => url.pathname === '/alerts' && path.endsWith(url.searchParams.get('site') ?? 'none'),
      )
      browserErrors.length = 0
    })
  })

  // Nothing but printing asks for it.
  await t.test(
    'for paper the page is drawn in light colours and as wide as a sheet, charts too',
    AT_NIGHT,
    async (t) => {
      const { page } = await open(t, path)
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
      for (const name of CHARTS) await chart(page, name).first().waitFor()
      const drawn = async () => ({
        scheme: await page.locator('html').getAttribute('data-mantine-color-scheme'),
        widths: await page.evaluate<number[]>("Array.from(document.querySelectorAll('canvas'), ({ width }) => width)"),
      })
      const onScreen = await drawn()
      await page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
      const onPaper = await drawn()
      assert.equal(onPaper.scheme, 'light')
      assert.ok(
        onPaper.widths.every((width) => width > 300 && width < 650),
        onPaper.widths.join(),
      )
      await page.evaluate("window.dispatchEvent(new Event('afterprint'))")
      await page.locator('html[data-mantine-color-scheme="dark"]').waitFor()
      assert.deepEqual(await drawn(), onScreen)
    },
  )

  await t.test('what was refused stands there with its reason, what was accepted as it is kept', async (t) => {
    const bad = eventPayload({ timestamp_ms: clock.now(), event_name: '' })
    assert.equal((await demo.ingest(site, bad)).status, 400)
    assert.equal((await demo.ingest(site, eventPayload({ timestamp_ms: clock.now() }))).status, 200)
    await until('the refusal is written', async () => {
      const recent = await demo.call('GET', `/api/monitoring/sites/${site.id}/recent`)
      const { accepted, rejections } = recent.json<{ accepted: unknown[]; rejections: unknown[] }>()
      return (accepted.length > 0 && rejections.length > 0) || undefined
    })
    const { page } = await open(t, `${path}?tab=payloads`)
    const refused = page.getByRole('region', { name: 'Refused requests' })
    await refused.getByText('/event_name').waitFor()
    await page.getByRole('region', { name: 'Accepted payloads' }).getByRole('row').nth(1).press('Enter')
    await page
      .getByRole('dialog')
      .getByText(/"event_name"/)
      .waitFor()
    await staysAccessible(page)
  })

  await t.test('a site without an event says how to send one, and the first shows automatically', async (t) => {
    const fresh = await demo.newSite(await demo.newClient({ name: 'Newcomer' }), { name: 'Fresh site' })
    const { page } = await open(t, `/sites/${fresh.id}`)
    await page.getByRole('heading', { name: 'No event has arrived yet' }).waitFor()
    await assertAccessible(page)
    assert.equal((await demo.ingest(fresh, eventPayload({ timestamp_ms: clock.now() }))).status, 200)
    await chart(page, /^Events by name over time, 1 in all/)
      .first()
      .waitFor()
  })
})
