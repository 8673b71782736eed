import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import type { SiteRecord } from '../../src/management/index.ts'
import type { OnCallRecord } from '../../src/notifications/index.ts'
import { until } from '../../testkit/until.ts'
import { answered, answering, follow, inOnePage, openPage, staysAccessible, untilTrue } from './support/page.ts'
import { addTarget, startEmpty } from './support/target.ts'

/** A client that no service has. */
const NO_CLIENT = '00000000-0000-4000-8000-000000000000'

const FORBIDDEN = { status: 403, json: { error: 'forbidden', message: 'Not any more', details: [] } }

/** Lets changes at this path wait, and refuses them once the returned function is called. */
async function refuseLater(page: Page, path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(path, async (route) => {
    if (route.request().method() === 'GET') return route.continue()
    await promise
    await route.fulfill(FORBIDDEN)
  })
  return resolve
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

test('the overview of an empty store has nothing to search or to filter', async (t) => {
  const service = await startEmpty(t)
  const { page } = await openPage(t, service.url, '/overview')
  await heading(page, 'Nothing is watched yet').waitFor()
  assert.equal(await page.getByLabel('Find sites and clients').count(), 0)
  assert.equal(await page.getByText('Broken', { exact: true }).count(), 0)
})

test('pages of one client and of all', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  const [acme, nordwind] = [await service.newClient({ name: 'ACME' }), await service.newClient({ name: 'Nordwind' })]
  await service.newSite(acme, { name: 'First shop' })
  await service.newSite(nordwind, { name: 'Second shop' })

  await t.test('the overview takes a client in its address as a search for its name', async (t) => {
    const { page } = await open(t, `/overview?client=${nordwind.id}`)
    await page.waitForURL('**/overview?q=Nordwind')
    await page.getByText('Second shop').waitFor()
    await page.getByText('First shop').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Save view' }).waitFor()
    await follow(page, '/overview?client=zzz')
    await page.waitForURL('**/overview')
    await page.getByText('First shop').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Save view' }).count(), 0)
  })

  await t.test('a client that does not exist leads to all clients', async (t) => {
    const { page, browserErrors } = await open(t, '/overview')
    for (const [path, title] of [
      ['/today?client=zzz', 'Today'],
      [`/today?client=${NO_CLIENT}`, 'Today'],
      ['/tags?client=zzz', 'Tags'],
      ['/alerts?client=zzz', ''],
    ] as const) {
      await follow(page, path)
      await page.getByRole('alert').getByRole('heading', { name: 'Client not found' }).waitFor()
      await staysAccessible(page)
      await page.getByRole('button', { name: 'Show all clients' }).click()
      await page.getByRole('alert').waitFor({ state: 'detached' })
      if (title !== '') await heading(page, title).waitFor()
      assert.equal(new URL(page.url()).search, '')
    }
    assert.ok(browserErrors.splice(0).every((text) => /status of 40[04]/.test(text)))
  })

  await t.test('"?" lists the keyboard shortcuts, except in an input field and over a dialog', async (t) => {
    const { page } = await open(t, '/overview')
    const list = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await page.getByLabel('Find sites and clients').press('Shift+?')
    await page.getByLabel('Find sites and clients').fill('')
    assert.equal(await list.count(), 0)
    await page.getByRole('link', { name: 'Show on a wall' }).focus()
    await page.keyboard.press('Shift+?')
    await list.getByText('Acknowledge').waitFor()
    await staysAccessible(page)
    await page.keyboard.press('Escape')
    await list.waitFor({ state: 'detached' })
    // A dialog is not covered by another one: Escape closes it.
    await page.keyboard.press('/')
    await page.getByLabel(/^Search clients, sites, pages/).press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    for (const key of ['Shift+?', '/']) {
      await follow(page, '/maintenance?dialog=new')
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press(key)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
  })

  await t.test('a letter put into the middle of a search leaves the cursor behind it', async (t) => {
    const { page } = await open(t, '/overview?q=st+shop')
    const field = page.getByLabel('Find sites and clients')
    await field.press('Home')
    await page.keyboard.type('Fir')
    await page.waitForURL('**/overview?q=First+shop')
    assert.equal(await field.inputValue(), 'First shop')
    await page.getByRole('button', { name: 'Clear', exact: true }).press('Enter')
    await page.keyboard.type('Second')
    await page.waitForURL('**/overview?q=Second')
    await follow(page, '/overview?q=First')
    await page.getByText('Second shop').waitFor({ state: 'detached' })
    assert.equal(await field.inputValue(), 'First')
  })

  await t.test('a search without a match says what is searched', async (t) => {
    const { page } = await open(t, '/overview')
    await page.getByText('First shop').waitFor()
    await page.keyboard.press('/')
    await page.getByLabel(/^Search clients, sites, pages/).fill('no such thing')
    await page.getByText(/^No match among clients, sites, pages, open incidents and alerts, tags/).waitFor()
    await page.keyboard.press('Escape')
  })

  for (const scheme of ['dark', 'light'] as const) {
    await t.test(`a tooltip has the colours of its theme, in ${scheme}`, async (t) => {
      const { page } = await open(t, '/overview', { scheme })
      await page.getByRole('link', { name: 'Show on a wall' }).hover()
      await page.getByRole('tooltip').waitFor()
      await untilTrue(
        page,
        `((tip) => tip.backgroundColor === '${scheme === 'dark' ? 'rgb(22, 29, 38)' : 'rgb(255, 255, 255)'}')(getComputedStyle(document.querySelector('[role=tooltip]')))`,
      )
    })
  }
})

test('answers that come late, and what others change meanwhile', async (t) => {
  const service = await startEmpty(t)
  const open = inOnePage(t, service.url)
  const client = await service.newClient({ name: 'ACME' })
  const target = await addTarget(t, service, 'First shop', client)
  const second = await service.newSite(client, { name: 'Second shop', timezone: 'Europe/Berlin' })

  await t.test('a note that is saved leaves what was typed on, and its panel is printed with notes only', async (t) => {
    await target.turn('bad')
    const [incident] = await service.ask<{ id: string }[]>('GET', `/api/incidents?client_id=${client.id}`)
    const { page, browserErrors } = await open(t, `/incidents/${incident?.id}`)
    const panel = page.getByRole('region', { name: 'Notes' })
    const { promise: later, resolve: go } = Promise.withResolvers<void>()
    await page.route('**/notes', async (route) => {
      await later
      await route.continue()
    })
    const note = panel.getByLabel('Note', { exact: true })
    await note.fill('Restarted it')
    assert.equal(await panel.getAttribute('data-print'), 'no')
    await panel.getByRole('button', { name: 'Add note' }).click()
    await note.fill('Restarted it, and called the host')
    go()
    await panel.getByRole('listitem').getByText('Restarted it', { exact: true }).waitFor()
    await answered(page)
    assert.equal(await note.inputValue(), 'Restarted it, and called the host')
    assert.equal(await panel.getAttribute('data-print'), null)
    await note.fill('')
    const refuse = await refuseLater(page, '**/acknowledge')
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByRole('heading', { level: 1 }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    refuse()
    await page.getByText('Not any more').waitFor()
    assert.ok(browserErrors.splice(0).every((text) => /status of 403/.test(text)))
  })

  await t.test('a rotation keeps what someone else has changed, and a deleted override goes', async (t) => {
    const path = `/api/clients/${client.id}/on-call`
    const rotation = {
      people: [{ name: 'Ada', email: 'ada@acme.example', channel_id: null }],
      timezone: 'Europe/Berlin',
      handover_weekday: 1,
      handover_time: '09:00',
      starts_on: '2026-11-23',
      escalate_after_minutes: 15,
    }
    const { rotation: made } = await service.ask<OnCallRecord>('POST', path, rotation)
    const [ada = assert.fail('no person')] = made?.people ?? []
    const override = { person_id: ada.id, starts_at: '2026-11-26T00:00:00Z', ends_at: '2026-11-27T00:00:00Z' }
    const { id } = await service.ask<{ id: string }>('POST', `${path}/overrides`, override)
    const { page, browserErrors } = await open(t, `/clients/${client.id}`)
    const region = page.getByRole('region', { name: 'On call' })
    const remove = region.getByRole('button', { name: 'Delete the override of Ada' })
    await remove.waitFor()
    assert.equal((await service.call('DELETE', `${path}/overrides/${id}`)).status, 204)
    await remove.click()
    await page.getByText('Not deleted').waitFor()
    await remove.waitFor({ state: 'detached' })
    await region.getByRole('button', { name: 'Edit the rotation' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Ada Lovelace')
    await service.ask('POST', path, { ...rotation, people: [ada], handover_time: '18:00' })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { rotation: saved } = await service.ask<OnCallRecord>('GET', path)
    assert.deepEqual([saved?.people[0]?.name, saved?.handover_time], ['Ada Lovelace', '18:00'])
    await region.getByRole('button', { name: 'Edit the rotation' }).click()
    await dialog.getByLabel('Name').fill('Ada King')
    await service.ask('POST', path, { ...rotation, people: [{ ...ada, name: 'Ada Byron' }] })
    await dialog.getByRole('button', { name: 'Save' }).click()
    const conflict = 'People: Someone has changed this meanwhile. Save again to replace it'
    await dialog.getByRole('alert').getByText(conflict, { exact: true }).waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.ok(browserErrors.splice(0).every((text) => /status of 404/.test(text)))
  })

  await t.test('another site keeps what was typed about a new probe, and half a number breaks no form', async (t) => {
    const { page } = await open(t, `/probes/new?site=${second.id}&type=data_volume`)
    await page.getByLabel('Name').fill('Too few orders')
    await page.getByRole('combobox', { name: 'Site' }).click()
    await page.getByRole('option', { name: 'First shop' }).click()
    await page.waitForURL((url) => url.searchParams.get('site') !== second.id)
    assert.equal(await page.getByLabel('Name').inputValue(), 'Too few orders')
    await answering(page, false, () => page.getByRole('button', { name: 'Another type' }).click())
    assert.equal(await page.getByLabel('Name').inputValue(), 'Too few orders')
    await page.getByLabel('Name').fill('')
    await answering(page, true, () => page.getByRole('link', { name: 'Probes', exact: true }).first().click())
    await follow(page, '/maintenance?dialog=new')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Every week').click()
    for (const minutes of ['-', '999999999999']) {
      await dialog.getByLabel(/^Minutes/).fill(minutes)
      await dialog.getByText('As entered, this never takes effect.').waitFor()
    }
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  await t.test('an order value is typed with a point or a comma', async (t) => {
    const { page } = await open(t, '/overview')
    for (const text of ['79.05', '79,50']) {
      await follow(page, `/sites/${second.id}/edit`)
      const field = page.getByLabel('Average order value')
      await field.fill('')
      await field.pressSequentially(text)
      await page.getByLabel('Currency').fill('EUR')
      await page.getByLabel('Currency').press('Enter')
      await page.waitForURL(`**/clients/${client.id}`)
      const site = await service.ask<SiteRecord>('GET', `/api/sites/${second.id}`)
      assert.equal(site.average_order_value, Number(text.replace(',', '.')))
    }
  })

  await t.test('two equal refusals are two lines, and an annotation that is refused late is reported', async (t) => {
    const { page, browserErrors } = await open(t, '/overview')
    const rejections = [0, 0].map(() => ({ at: '2026-11-25T13:00:00.000Z', reason: 'forbidden', path: '' }))
    await page.route('**/recent', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...((await response.json()) as object), rejections } })
    })
    await follow(page, `/sites/${second.id}?tab=payloads`)
    const rows = page.getByRole('region', { name: 'Refused requests' }).getByRole('row')
    await until('two rows and the head', async () => (await rows.count()) === 3 || undefined)
    for (const at of ['2026-11-25T13:01:00.000Z', '2026-11-25T13:02:00.000Z']) {
      rejections.unshift({ at, reason: 'rate_limited', path: '' })
      rejections.pop()
      await page.evaluate('__TSR_ROUTER__.options.context.queryClient.invalidateQueries()')
      await answered(page)
    }
    assert.equal(await rows.count(), 3)
    const { promise: later, resolve: go } = Promise.withResolvers<void>()
    let sent: unknown
    await page.route('**/api/annotations', async (route) => {
      sent = (route.request().postDataJSON() as { at: string }).at
      await later
      await route.continue()
    })
    // 02:30 in Berlin, for the second time in that night.
    const now = '2026-10-25T01:30:00.000Z'
    await page.evaluate(`globalThis.realNow = Date.now, Date.now = () => ${Date.parse(now)}`)
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What happened').fill('Relaunch')
    await page.evaluate('Date.now = globalThis.realNow')
    await dialog.getByLabel('Link').fill('no address')
    await dialog.getByRole('button', { name: 'Annotate' }).click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    go()
    await page.getByText('Not saved').waitFor()
    assert.equal(sent, now)
    assert.ok(browserErrors.splice(0).every((text) => /status of 400/.test(text)))
  })

  const failing = async () => {
    const [incident = assert.fail('no incident')] = await service.ask<{ id: string }[]>(
      'GET',
      `/api/incidents?client_id=${client.id}`,
    )
    const [alert = assert.fail('no alert')] = await service.ask<{ id: string }[]>(
      'GET',
      `/api/alerts?client_id=${client.id}`,
    )
    return { incident: incident.id, alert: alert.id }
  }

  await t.test(
    'a note survives that its alert moves, and is reported when it is refused after the page was left',
    async (t) => {
      const { incident, alert } = await failing()
      const { page, browserErrors } = await open(t, `/alerts/${alert}`)
      const note = page.getByRole('region', { name: 'Incident' }).getByLabel('Note', { exact: true })
      await note.fill('Restarted it')
      const rewrite = (path: string, from: string, change: object) =>
        page.route(path, async (route) => {
          const response = await route.fetch({ url: service.url + from })
          await route.fulfill({ response, json: { ...((await response.json()) as object), ...change } })
        })
      await rewrite(`**/api/incidents/${NO_CLIENT}`, `/api/incidents/${incident}`, {
        id: NO_CLIENT,
        title: 'the other',
      })
      await rewrite(`**/api/alerts/${alert}`, `/api/alerts/${alert}`, { incident_id: NO_CLIENT })
      await page.evaluate('__TSR_ROUTER__.options.context.queryClient.invalidateQueries()')
      await page.getByRole('region', { name: 'Incident' }).getByText('The other').waitFor()
      assert.equal(await note.inputValue(), 'Restarted it')
      const refuse = await refuseLater(page, '**/notes')
      await page.getByRole('button', { name: 'Add note' }).click()
      await page.evaluate("__TSR_ROUTER__.navigate({ href: '/clients' })")
      await note.waitFor({ state: 'detached' })
      refuse()
      await page.getByText('Not any more').waitFor()
      assert.ok(browserErrors.splice(0).every((text) => /status of 403/.test(text)))
    },
  )

  await t.test('a silence that is refused after its dialog was closed is reported', async (t) => {
    const { alert } = await failing()
    const { page, browserErrors } = await open(t, `/alerts/${alert}`)
    const refuse = await refuseLater(page, '**/api/silences')
    await page.getByRole('button', { name: 'Silence', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Custom …' }).click()
    const dialog = page.getByRole('dialog', { name: 'Silence' })
    await dialog.getByRole('button', { name: 'Silence', exact: true }).click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    refuse()
    await page.getByText('Not silenced').waitFor()
    assert.ok(browserErrors.splice(0).every((text) => /status of 403/.test(text)))
  })

  await t.test('the chart of an alert whose figures are no longer kept says so', async (t) => {
    const { alert } = await failing()
    const { page } = await open(t, '/clients')
    const finding = { subject: { event_name: 'purchase', field: 'coupon' }, band: { low: 0.5, high: null } }
    await page.route(`**/api/alerts/${alert}`, async (route) => {
      const response = await route.fetch()
      const changes = { probe_type: 'field_contract', details: { findings: [finding] } }
      await route.fulfill({ response, json: { ...((await response.json()) as object), ...changes } })
    })
    await follow(page, `/alerts/${alert}`)
    await page.getByText('The figures of this time are no longer kept.').waitFor()
  })

  await t.test('an alert of a paused site offers changes to editors of its client alone', async (t) => {
    const { alert } = await failing()
    const { page } = await open(t, `/alerts/${alert}`)
    const resolve = page.getByRole('button', { name: 'Resolve' })
    await resolve.waitFor()
    const clients = [
      { client_id: client.id, role: 'viewer' },
      { client_id: NO_CLIENT, role: 'editor' },
    ]
    const rewrite = (path: string, change: object) =>
      page.route(path, async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response, json: { ...((await response.json()) as object), ...change } })
      })
    await rewrite('**/api/dashboard/overview', { clients: [] })
    await rewrite('**/api/session', { access: { all: null, clients } })
    const refresh = () => page.evaluate('__TSR_ROUTER__.options.context.queryClient.invalidateQueries()')
    await refresh()
    await page.getByRole('link', { name: /\(paused\), / }).waitFor()
    await resolve.waitFor({ state: 'detached' })
    await page.unroute('**/api/session')
    await refresh()
    await resolve.waitFor()
  })

  for (const what of ['alert', 'incident'] as const) {
    await t.test(`a search without a match goes on among older ${what}s`, async (t) => {
      const { page } = await open(t, '/clients')
      const [known] = await service.ask<object[]>('GET', `/api/${what}s?client_id=${client.id}`)
      const resolved = (n: number, title: string) => ({
        ...{ ...known, id: `${NO_CLIENT.slice(0, -2)}${n}`, title, parent_id: null },
        ...{ state: 'resolved', resolved_at: '2026-11-20T10:00:00.000Z', resolution: 'manual' },
      })
      await page.route(`**/api/${what}s?*order=resolved*`, (route) => {
        const isFirst = !new URL(route.request().url()).searchParams.has('before')
        const json = isFirst
          ? Array.from({ length: 50 }, (_, n) => resolved(10 + n, 'Recent'))
          : [resolved(60, 'Long ago')]
        return route.fulfill({ json })
      })
      await follow(page, `/${what}s?q=long+ago`)
      await page.getByText(`Older ${what}s are not searched yet.`).waitFor()
      await page.getByRole('button', { name: `Show older ${what}s` }).click()
      await page.getByRole('link', { name: 'Long ago' }).waitFor()
      await answered(page)
    })
  }

  await t.test('the text of a post-mortem stays while it has the focus', async (t) => {
    const { incident } = await failing()
    const { page } = await open(t, `/incidents/${incident}`)
    const text = page.getByRole('textbox', { name: 'Post-mortem' })
    await text.focus()
    await page.route(`**/api/incidents/${incident}`, async (route) => {
      const response = await route.fetch()
      const known = (await response.json()) as { alerts: object[] }
      const alerts = [{ ...known.alerts[0], id: NO_CLIENT }, ...known.alerts]
      await route.fulfill({ response, json: { ...known, alerts, evidence: [], title: 'renamed' } })
    })
    await page.evaluate('__TSR_ROUTER__.options.context.queryClient.invalidateQueries()')
    await page.getByRole('heading', { level: 1, name: 'Renamed' }).waitFor()
    await page.getByText('Nothing else began with these alerts').waitFor()
    assert.doesNotMatch(await text.inputValue(), /renamed/i)
    await text.blur()
    assert.match(await text.inputValue(), /renamed/i)
  })

  await t.test(
    'a key that is held acknowledges once, and an incident without open alerts offers no sites',
    async (t) => {
      await target.turn('bad')
      const { page, browserErrors } = await open(t, '/incidents')
      let asked = 0
      await page.route('**/acknowledge', async (route) => {
        asked++
        await route.fulfill(FORBIDDEN)
      })
      await page.route('**/api/alerts?*', (route) => route.fulfill({ json: [] }))
      await follow(page, '/incidents')
      await page.getByText('First shop').first().waitFor()
      await page.keyboard.press('j')
      for (let n = 0; n < 3; n++) await page.keyboard.down('a')
      await page.keyboard.up('a')
      await page.getByText('Not any more').first().waitFor()
      await answered(page)
      assert.equal(asked, 1)
      await page.keyboard.press('s')
      await page.getByText('This incident, with what joins it').waitFor()
      assert.equal(await page.getByText(/^All of/).count(), 0)
      assert.ok(browserErrors.splice(0).every((text) => /status of 403/.test(text)))
    },
  )

  await t.test('what is typed while a special day is saved stays', async (t) => {
    const probe = { site_id: second.id, probe_type: 'data_volume', name: 'Volume', interval_seconds: 86_400 }
    const { id } = await service.ask<{ id: string }>('POST', '/api/probes', probe)
    const { page } = await open(t, `/probes/${id}`)
    const { promise: later, resolve: go } = Promise.withResolvers<void>()
    await page.route('**/special-days', async (route) => {
      if (route.request().method() === 'POST') await later
      await route.continue()
    })
    const special = page.getByRole('region', { name: 'Special days' })
    await special.getByLabel('First day').fill('2026-11-27')
    await special.getByRole('button', { name: 'Mark as special' }).click()
    await special.getByLabel('What is special').fill('Black Friday')
    go()
    await special.getByText('27 Nov 2026').waitFor()
    await answered(page)
    assert.equal(await special.getByLabel('What is special').inputValue(), 'Black Friday')
    await special.getByLabel('What is special').fill('')
    await special.getByLabel('First day').fill('')
  })

  await t.test(
    'a name with two spaces can be typed to delete it, and a site without events has one phrase for that',
    async (t) => {
      const owner = await service.newClient({ name: 'Two  spaces' })
      await service.newSite(owner, { name: 'Silent shop' })
      const { page } = await open(t, `/clients/${owner.id}`, { device: 'phone' })
      await page.setViewportSize({ width: 390, height: 800 })
      await page.getByText(/· no event yet$/).waitFor()
      await follow(page, `/clients/${owner.id}/edit`)
      await page.getByRole('button', { name: 'Delete …' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('textbox').fill('Two spaces')
      await dialog.getByRole('button', { name: 'Delete the client' }).click()
      await page.waitForURL('**/clients')
    },
  )
})
