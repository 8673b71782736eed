import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { HOUR, MINUTE, newOrderedId, SECOND } from '../../src/lib/index.ts'
import { insertAlert } from '../../testkit/alerts.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { insertProbe } from '../../testkit/probes.ts'
import type { TestService } from '../../testkit/service.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { sideways } from './support/forms.ts'
import { assertAccessible, chiefly, follow, inOnePage, openPage } from './support/page.ts'
import { startService } from './support/service.ts'

const EVENTS = 30
const TITLE = 'Meta CAPI fails on 31 % of purchase events'

/** A site with events of the last minutes, all of whose tags worked. */
async function newSite(api: TestService, name: string): Promise<SiteKey> {
  const site = await api.newSite(await api.newClient({ name: `Owner of ${name}` }), { name })
  const now = clock.now()
  for (let sent = 0; sent < EVENTS; sent++) {
    const payload = eventPayload({
      timestamp_ms: now,
      tags: [{ id: '1', name: 'Meta CAPI', status: 'success', execution_time: 12 }],
      user_data: { has_email: true, has_phone: true, has_city: true, has_country: true },
      ecommerce: { has_value: true, has_currency: true, has_transaction_id: true, has_items: true },
    })
    const answer = await api.ingest(site, payload)
    assert.equal(answer.status, 200, answer.text)
  }
  await api.service.ingest.flush()
  return site
}

/** An open alert of the site, of a probe that is there and not run. */
async function addAlert(api: TestService, site: SiteKey, title: string, tag_key = 'Meta CAPI'): Promise<string> {
  const { store } = api.service
  const now = clock.now()
  const probe = await insertProbe(store, site.id, {
    probe_type: 'tag_failure_rate',
    name: 'Tag failures',
    next_run_at: now + HOUR,
    interval_seconds: 86_400,
    last_status: 'critical',
    last_result_at: now,
  })
  const details = JSON.stringify({ findings: [{ subject: { tag_key }, measured: 0.31 }] })
  const about = { probe_id: probe.id, probe_type: probe.probe_type, subject: `tag:${JSON.stringify(tag_key)}` }
  const alert = await insertAlert(store, site, now - 18 * MINUTE, { ...about, subject_label: tag_key, title, details })
  return alert.id
}

async function start(t: TestContext): Promise<TestService> {
  await ensureDashboard()
  return startService(t)
}

const banner = (page: Page, title: string) => page.getByRole('article').filter({ hasText: title })

test('a site with a critical alert', async (t) => {
  const api = await start(t)
  const open = inOnePage(t, api.url)
  const site = await newSite(api, 'Capped shop')
  await addAlert(api, site, TITLE)

  for (const variant of chiefly('desktop')) {
    await t.test(`is never excellent, and says why, in ${variant.scheme} on a ${variant.device}`, async (t) => {
      const { page } = await open(t, `/sites/${site.id}`, variant)
      const figures = page.getByLabel('The window in numbers')
      await figures.getByText('49 at most: a critical alert is open', { exact: true }).waitFor()
      await figures.getByText('Score, last hour', { exact: true }).waitFor()
      await figures.getByRole('button', { name: 'Score: what it is made of' }).click()
      await page.getByText(/^49 at most while a critical alert is open: /).waitFor()
      await page.getByText(/Without it 100/).waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await page.getByRole('dialog').getByRole('link', { name: TITLE }).click()
      await page.getByRole('heading', { level: 1, name: TITLE }).waitFor()
    })
  }

  await t.test('has the same score, and the same reason, on the overview', async (t) => {
    const { page } = await open(t, '/')
    const score = page.getByTitle(`49 at most while a critical alert is open: ${TITLE}`)
    await score.waitFor()
    assert.match((await score.textContent()) ?? '', /^score 49$/)
  })
})

// Whether such names fit a phone, `long-names` looks at on every change.
test('an alert about names as long as they come', AT_NIGHT, async (t) => {
  const api = await start(t)
  const open = inOnePage(t, api.url)
  const site = await newSite(api, 'S'.repeat(100))
  const tag = `Meta_${'x'.repeat(190)}`
  const title = `“${'y'.repeat(140)}” failed`
  await addAlert(api, site, title, tag)

  for (const variant of chiefly('phone')) {
    await t.test(`has its words and its buttons in ${variant.scheme} on a ${variant.device}`, async (t) => {
      const { page } = await open(t, `/sites/${site.id}`, variant)
      await banner(page, title)
        .getByRole('button', { name: /^Look at Meta_/ })
        .waitFor()
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      const [all, words] = await Promise.all([
        banner(page, title).boundingBox(),
        banner(page, title).getByRole('heading').boundingBox(),
      ])
      assert.ok(all !== null && words !== null)
      assert.ok(words.width >= all.width / 3, `${words.width} of ${all.width} px are left for the words`)
      const label = await banner(page, title)
        .getByText(/^Look at Meta_/)
        .boundingBox()
      assert.ok(
        label !== null && label.height > 13,
        `of its label ${label?.height} px are left: letters lose their feet`,
      )
      for (const name of [/^Look at/, 'Acknowledge', 'Silence']) {
        const box = await banner(page, title).getByRole('button', { name }).boundingBox()
        assert.ok(box !== null && box.x >= all.x && box.x + box.width <= all.x + all.width, `${name} leaves the banner`)
      }
      await assertAccessible(page)
    })
  }
})

// Eight seconds pass. What an acknowledgement does, `alerts` looks at on every change.
test(
  'acknowledging where the alert stands takes the name that the browser keeps, and eight seconds to undo',
  AT_NIGHT,
  async (t) => {
    const api = await start(t)
    const site = await newSite(api, 'Handled shop')
    const id = await addAlert(api, site, TITLE)
    const { page } = await openPage(t, api.url, '/')
    await page.evaluate(`localStorage.setItem('tagwarden-my-name', JSON.stringify('Mara'))`)
    await page.goto(`/sites/${site.id}`)
    await banner(page, TITLE).waitFor()
    // The page's own clock: this process may learn late that it is there.
    await page.evaluate(`new MutationObserver(() => {
    const isThere = document.body.textContent.includes('1 alert acknowledged')
    if (isThere) window.toastFrom ??= performance.now()
    else if (window.toastFrom !== undefined) window.toastTo ??= performance.now()
  }).observe(document.body, { childList: true, subtree: true })`)
    await banner(page, TITLE).getByRole('button', { name: 'Acknowledge' }).click()
    const toast = page.getByText('1 alert acknowledged', { exact: true })
    await toast.waitFor()
    await banner(page, TITLE).getByText('acknowledged by Mara', { exact: true }).waitFor()
    const { acknowledged_by } = (await api.call('GET', `/api/alerts/${id}`)).json<{ acknowledged_by: string }>()
    assert.equal(acknowledged_by, 'Mara')
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    await toast.waitFor({ state: 'detached' })
    const shown = await page.evaluate<number>('window.toastTo - window.toastFrom')
    assert.ok(shown >= 7.5 * SECOND, `the toast was there for ${shown} ms only`)
  },
)

interface PanelCase {
  panel: string
  asks: RegExp
  /** What is there when it has what it asked for. */
  shows: (page: Page) => Locator
}

const chart = (name: RegExp) => (page: Page) => page.getByRole('img', { name })

/** By the page that they are on. */
const PANELS: Readonly<Record<'charts' | 'tags' | 'alert', readonly PanelCase[]>> = {
  charts: [
    { panel: 'Events', asks: /timeseries\?.*metric=events/, shows: chart(/^Events by name over time/) },
    { panel: 'Tag health', asks: /timeseries\?.*metric=failures/, shows: chart(/^Tag health over time/) },
    { panel: 'Execution time', asks: /timeseries\?.*metric=latency/, shows: chart(/^Execution time of all tags/) },
    { panel: 'User data', asks: /timeseries\?.*metric=user_data/, shows: chart(/^User data over time/) },
    { panel: 'E-commerce data', asks: /timeseries\?.*metric=ecommerce/, shows: chart(/^E-commerce data over time/) },
    { panel: 'Probes', asks: /api\/probes\?/, shows: (page) => page.getByText('Tag failures', { exact: true }) },
    { panel: 'Open alerts', asks: /api\/alerts\?.*resolved=false/, shows: (page) => banner(page, TITLE) },
  ],
  tags: [
    { panel: 'Tags by event', asks: /\/matrix/, shows: (page) => page.getByRole('rowheader', { name: 'purchase' }) },
  ],
  alert: [
    {
      panel: 'Latest results',
      asks: /probes\/[^/]+\/results/,
      shows: (page) => page.getByText(/^Its results are gone/),
    },
    {
      panel: 'Other alerts of this probe',
      asks: /api\/alerts\?.*probe_id=/,
      shows: (page) => page.getByText(/^This probe has not opened an alert before/),
    },
    { panel: 'What changed before', asks: /\/markers/, shows: (page) => page.getByText('web container 41 → 42') },
  ],
}

test('a panel whose report fails says so in its place, and comes when it is tried again', async (t) => {
  const api = await start(t)
  const open = inOnePage(t, api.url)
  const site = await newSite(api, 'Failing shop')
  const id = await addAlert(api, site, TITLE)
  const at = clock.now() - 10 * HOUR
  const marker = { site_id: site.id, source: 'web container', from_version: '41', to_version: '42', details: '{}' }
  await api.service.store.write
    .insertInto('deploy_markers')
    .values({ ...marker, id: newOrderedId(at), at })
    .execute()
  const pages = [
    [`/sites/${site.id}`, PANELS.charts],
    [`/sites/${site.id}?tab=tags`, PANELS.tags],
    [`/alerts/${id}`, PANELS.alert],
  ] as const
  for (const [path, panels] of pages) {
    await t.test(`on ${path.replace(/[0-9a-f-]{36}/, '…')}`, async (t) => {
      const { page, browserErrors } = await open(t, '/maintenance')
      const broken = new Set(panels)
      const internal = { error: 'internal_error', message: 'broken', details: [] }
      for (const panel of panels) {
        await page.route(panel.asks, (route) =>
          broken.has(panel) ? route.fulfill({ status: 500, json: internal }) : route.fallback(),
        )
      }
      await follow(page, path)
      for (const one of panels) {
        await t.test(one.panel, async () => {
          const place = page.getByRole('region', { name: one.panel, exact: true })
          await place.getByRole('alert').getByText('Tagwarden hit an internal error').waitFor()
          broken.delete(one)
          await place.getByRole('button', { name: 'Try again' }).click()
          await one.shows(page).first().waitFor()
          assert.equal(await place.getByRole('alert').count(), 0)
        })
      }
      // The browser logs each answer 500.
      assert.ok(
        browserErrors.every((text) => /status of 500/.test(text)),
        browserErrors.join('\n'),
      )
      browserErrors.length = 0
    })
  }
})
