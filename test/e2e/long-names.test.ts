import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SiteKey } from '../../testkit/api.ts'
import { eventPayload } from '../../testkit/deltas.ts'
import { AT_NIGHT, amount } from '../../testkit/length.ts'
import { batch } from '../../testkit/payloads.ts'
import { clock } from './support/clock.ts'
import { sideways } from './support/forms.ts'
import { follow, openPage, staysAccessible } from './support/page.ts'
import { addTarget, startEmpty } from './support/target.ts'

/** Where no line can be broken, and from right to left. */
const UNBROKEN = 'RindfleischetikettierungsüberwachungsaufgabenübertragungsgesetzgebungsverfahrenX'
  .repeat(3)
  .slice(0, 200)
const FROM_RIGHT = 'חנות המקוונת של ירושלים ושל כל הסביבה, מהמחלקה הראשונה ועד לאחרונה שבהן, יום ו12'
const EVENT = `purchase_${UNBROKEN}`.slice(0, 80)

/**
 * A phone, and a desktop on which the browser shows everything twice as large. The latter may wait for the night: it is the phone's layout,
 * with almost twice its width. It is higher than a screen: rows out of sight ask for their results when they come into it.
 */
const WINDOWS = [
  { name: 'on a phone', width: 390, height: 844, when: {} },
  { name: 'at 200 %', width: 720, height: 1_800, when: AT_NIGHT },
]

const TABLE_WIDTHS = [1024, 1440].slice(0, amount(1, 2))
const AS_TABLES = ['/tags', '/probes', '/sites/$site/probes', '/clients', '/clients/$client', '/overview']

/** In the browser: the texts that end with "…", where nothing shows the whole of them on hover. */
const CUT_WITHOUT_TITLE = `[...document.querySelectorAll('body *')]
  .filter((one) => {
    const { textOverflow, webkitLineClamp } = getComputedStyle(one)
    const isCut = textOverflow === 'ellipsis' ? one.scrollWidth > one.clientWidth : one.scrollHeight > one.clientHeight + 1
    return (textOverflow === 'ellipsis' || webkitLineClamp !== 'none') && one.clientWidth > 0 && isCut
  })
  .filter((one) => one.closest('[title]') === null && one.querySelector('[title]') === null && one.tagName !== 'INPUT')
  .map(({ className, textContent }) => className + ': ' + textContent.slice(0, 60))`

test('names of 200 characters without a space, and such from right to left, fit every page', async (t) => {
  const api = await startEmpty(t)
  const client = await api.newClient({ name: UNBROKEN })
  const target = await addTarget(t, api, FROM_RIGHT, client)
  await target.turn('bad')
  const [site] = await api.ask<SiteKey[]>('GET', '/api/sites')
  assert.ok(site !== undefined)
  for (const status of ['success', 'failure'] as const) {
    const tags = [FROM_RIGHT, UNBROKEN].map((name, n) => ({ id: `${n}`, name, status, execution_time: 40 }))
    const answer = await api.ingest(site, eventPayload({ timestamp_ms: clock.now(), event_name: EVENT, tags }))
    assert.equal(answer.status, 200, answer.text)
  }
  const failures = { success: 0, failure: 40, timeout: 0, exception: 0, total_exec_ms: 400, count: 40 }
  await api.ingest(site, batch(clock.now(), { total_events: 40, tag_metrics: { [UNBROKEN]: failures } }))
  await api.service.ingest.flush()
  const judging = { site_id: site.id, probe_type: 'tag_failure_rate', name: UNBROKEN }
  const { id } = await api.ask<{ id: string }>('POST', '/api/probes', judging)
  await api.ask('POST', `/api/probes/${id}/run`)
  const [incident] = await api.ask<{ id: string }[]>('GET', '/api/incidents')
  const [alert] = await api.ask<{ id: string }[]>('GET', '/api/alerts')
  const probes = await api.ask<{ id: string; probe_type: string }[]>('GET', '/api/probes')
  const probe = probes.find(({ probe_type }) => probe_type === 'http_health')
  assert.ok(incident !== undefined && alert !== undefined && probe !== undefined)
  const { token } = await api.ask<{ token: string }>('POST', `/api/clients/${client.id}/status-link`)
  const ofSite = `/sites/${site.id}`
  const pages = [
    '/overview',
    '/today',
    '/incidents',
    `/incidents/${incident.id}`,
    '/alerts',
    `/alerts/${alert.id}`,
    ofSite,
    `${ofSite}?tab=tags`,
    `${ofSite}?tab=payloads`,
    `${ofSite}?tag=${encodeURIComponent(UNBROKEN)}`,
    `${ofSite}?event=${encodeURIComponent(EVENT)}`,
    `${ofSite}?tag=${encodeURIComponent(FROM_RIGHT)}&event=${encodeURIComponent(EVENT)}`,
    `${ofSite}/setup`,
    `${ofSite}/probes`,
    `${ofSite}/edit`,
    `${ofSite}/keys`,
    '/tags',
    '/tags?vendor=(other)',
    `/compare?a=${site.id}&b=${site.id}&a_tag=${encodeURIComponent(UNBROKEN)}&b_tag=${encodeURIComponent(FROM_RIGHT)}`,
    '/probes',
    `/probes/new?site=${site.id}`,
    `/probes/${probe.id}`,
    `/probes/${probe.id}/edit`,
    '/maintenance',
    '/clients',
    '/clients/new',
    `/clients/${client.id}`,
    `/clients/${client.id}/edit`,
    `/clients/${client.id}/sites/new`,
    '/audit',
    '/settings',
    '/account',
    '/sign-in',
    '/wall',
    `/status/${token}`,
    `/status/${token}/incidents/${incident.id}`,
  ]
  for (const { name, when, ...size } of WINDOWS) {
    await t.test(name, when, async (t) => {
      const { page } = await openPage(t, api.url, '/overview')
      await page.setViewportSize(size)
      for (const path of pages) {
        await follow(page, path)
        await page.getByRole('heading', { level: 1 }).first().waitFor()
        await page.locator('[aria-busy="true"], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
        assert.equal(await sideways(page), 0, `${path} scrolls sideways`)
        assert.deepEqual(await page.evaluate<string[]>(CUT_WITHOUT_TITLE), [], path)
        // Other tests look at each of these pages with names as people give them.
        await staysAccessible(page)
      }
      // Where lists are tables, beside the rail of a tablet and of a desktop, whose tables are the same and have more room.
      for (const width of TABLE_WIDTHS) {
        await page.setViewportSize({ width, height: 900 })
        for (const path of AS_TABLES) {
          await follow(page, path.replace('$site', site.id).replace('$client', client.id))
          await page.locator('[aria-busy="true"], .mantine-Skeleton-root').first().waitFor({ state: 'detached' })
          assert.equal(await sideways(page), 0, `${path} scrolls sideways at ${width} px`)
          assert.deepEqual(await page.evaluate<string[]>(CUT_WITHOUT_TITLE), [], `${path} at ${width} px`)
        }
        const open = await page.getByRole('region', { name: 'Open incidents' }).boundingBox()
        assert.ok(open !== null && open.height < 300, `the open incidents are ${open?.height} px high at ${width} px`)
      }
    })
  }
})
