import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { eventPayload } from '../../testkit/deltas.ts'
import { amount } from '../../testkit/length.ts'
import { until } from '../../testkit/until.ts'
import { clock } from './support/clock.ts'
import { ensureDashboard } from './support/dashboard.ts'
import { follow, openPage } from './support/page.ts'
import { startEmpty } from './support/target.ts'

/** A browser has six connections to a host without HTTP/2, and each tab had a stream; how they share one, three show. */
const TABS = amount(3, 7)

/** In the browser: `look(false)` is what happens when another tab is chosen. Without a screen every tab is in the foreground. */
const CAN_BE_HIDDEN = `
  let isLookedAt = true
  Object.defineProperties(document, {
    hidden: { get: () => !isLookedAt },
    visibilityState: { get: () => (isLookedAt ? 'visible' : 'hidden') },
  })
  window.look = (really) => {
    isLookedAt = really
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }`

await ensureDashboard()

test('however many windows are open, each is answered, and those in sight are live', async (t) => {
  const service = await startEmpty(t)
  const client = await service.newClient({ name: 'ACME' })
  const site = await service.newSite(client, { name: 'Shop' })
  const other = await service.newSite(client, { name: 'Other shop' })
  const receive = async (of: typeof site) => {
    await service.ingest(of, eventPayload({ timestamp_ms: clock.now() }))
    await service.service.ingest.flush()
  }
  const context = (await openPage(t, service.url, 'about:blank')).page.context()
  const tabs: Page[] = []
  while (tabs.length < TABS) tabs.push(await openTab(context))
  const [first, second, last] = [tabs[0], tabs[1], tabs.at(-1)]
  assert.ok(first !== undefined && second !== undefined && last !== undefined)
  const unseen = (tab: Page) => tab.getByText('no event yet', { exact: true })

  await t.test('in the background the last one stays live until another is looked at', async () => {
    for (const tab of tabs) await tab.evaluate('look(false)')
    await receive(site)
    await last.getByText('just now', { exact: true }).waitFor()
    assert.equal(await unseen(first).count(), 2)
  })

  await t.test('one that is looked at again shows what happened meanwhile', async () => {
    await first.evaluate('look(true)')
    await first.getByText('just now', { exact: true }).waitFor()
    await isLive(first)
    await last.getByText('connecting', { exact: true }).waitFor()
    assert.doesNotMatch(await last.title(), /no connection/)
  })

  await t.test('two side by side share a stream, and the one that is left opens its own', async () => {
    await second.evaluate('look(true)')
    const streams = ofStreams(first)
    await second.getByText('just now', { exact: true }).waitFor()
    await receive(other)
    for (const tab of [first, second])
      await until('the event is seen', async () => (await unseen(tab).count()) === 0 || undefined)
    assert.equal(streams.length, 0)
    await second.close()
    await until('a stream of its own', async () => streams.length === 1 || undefined)
  })
})

/** Streams that a tab opens from now on. */
function ofStreams(tab: Page): string[] {
  const streams: string[] = []
  tab.on('request', (request) => {
    if (request.url().endsWith('/api/stream')) streams.push(request.url())
  })
  return streams
}

async function openTab(context: BrowserContext): Promise<Page> {
  const tab = await context.newPage()
  await tab.addInitScript(CAN_BE_HIDDEN)
  await tab.goto('/overview')
  await isLive(tab)
  return tab
}

const isLive = (tab: Page) => tab.getByText('live', { exact: true }).waitFor()

test('a page whose site, probe or client is deleted meanwhile says so instead of what it knew', async (t) => {
  const service = await startEmpty(t)
  const client = await service.newClient({ name: 'ACME' })
  const site = await service.newSite(client, { name: 'Shop' })
  const probe = await service.ask<{ id: string }>('POST', '/api/probes', {
    site_id: site.id,
    name: 'Events still come',
    probe_type: 'data_freshness',
  })
  const { page, browserErrors } = await openPage(t, service.url, 'about:blank')
  await page.clock.install()
  await page.goto('/maintenance')
  for (const [path, heading, deleted, words] of [
    [`/probes/${probe.id}`, 'Events still come', `/api/probes/${probe.id}`, 'Probe'],
    [`/sites/${site.id}`, 'Shop', `/api/sites/${site.id}`, 'Site'],
    [`/clients/${client.id}`, 'ACME', `/api/clients/${client.id}`, 'Client'],
  ] as const) {
    await follow(page, path)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await service.ask('DELETE', deleted)
    // Someone comes back to it.
    await page.clock.fastForward('00:30')
    await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))')
    await page.getByRole('heading', { name: `${words} not found` }).waitFor()
    await page.getByText('It may have been deleted', { exact: false }).waitFor()
  }
  // What is asked for by the id of a site that is gone, as notes in its charts, is refused with 400.
  const isGone = (text: string) => /status of 40[04]/.test(text)
  assert.ok(browserErrors.length > 0 && browserErrors.every(isGone), browserErrors.join('\n'))
  browserErrors.length = 0
})
