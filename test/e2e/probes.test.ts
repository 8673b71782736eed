import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDemo } from './support/demo.ts'
import { choose, sideways } from './support/forms.ts'
import { assertAccessible, chiefly, follow, inOnePage, staysAccessible } from './support/page.ts'
import { screenshot } from './support/screenshot.ts'

/** The browser logs every answer that is an error. */
const EXPECTED = /status of 400/

test('the probes of the demo store', async (t) => {
  const demo = await startDemo(t)
  const open = inOnePage(t, demo.url)
  const site = demo.sites.find(({ name }) => name === 'Feldkamp Outdoor') ?? assert.fail('no such site')
  const added = { site_id: site.id, probe_type: 'tag_failure_rate', name: 'Tag failures, added by hand' }
  const probe = (await demo.call('POST', '/api/probes', added)).json<{ id: string }>()
  for (let runs = 0; runs < 3; runs++) await demo.call('POST', `/api/probes/${probe.id}/run`)
  const [volume] = (await demo.call('GET', `/api/probes?site_id=${site.id}`))
    .json<{ id: string; probe_type: string }[]>()
    .filter(({ probe_type }) => probe_type === 'data_volume')
  assert.ok(volume !== undefined)

  for (const variant of chiefly('desktop')) {
    await t.test(`the list and a probe in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const { page } = await open(t, '/probes', variant)
      await page
        .getByRole('img', { name: /^Last \d+ results/ })
        .first()
        .waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the list scrolls sideways')
      await screenshot(page, 'probes', variant)
      await follow(page, `/probes/${probe.id}`)
      await page.getByRole('heading', { name: 'Results' }).waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the probe scrolls sideways')
      await screenshot(page, 'probe', variant)
    })

    await t.test(`what a probe expects in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const { page } = await open(t, `/probes/${volume.id}`, variant)
      const panel = page.getByRole('region', { name: 'Events by hour' })
      await panel.getByRole('img', { name: /^Events by hour, of the last day/ }).waitFor()
      await panel.getByText(/^From .+ to .+ (it warns below|any number of events passes)/).waitFor()
      await panel.getByText(/^Learned from \d+ days?: /).waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the page scrolls sideways')
      await screenshot(page, 'expectation', variant)
    })

    await t.test(`the form in ${variant.scheme} on a ${variant.device}: axe finds nothing`, async (t) => {
      const { page } = await open(t, `/probes/new?site=${site.id}`, variant)
      await page.getByRole('button', { name: /^Tag server infrastructure/ }).waitFor()
      await assertAccessible(page)
      await screenshot(page, 'probe-types', variant)
      await page.getByRole('button', { name: /^Tag server infrastructure/ }).click()
      await page.getByRole('combobox', { name: 'DNS targets' }).waitFor()
      await assertAccessible(page)
      assert.equal(await sideways(page), 0, 'the form scrolls sideways')
      await screenshot(page, 'probe-form', variant)
    })
  }

  await t.test('what is expected of one event is chosen, and stays in the address', async (t) => {
    const { page } = await open(t, `/probes/${volume.id}`)
    await choose(page, 'Event', 'purchase')
    await page.getByRole('img', { name: /^purchase events by hour, of the last day/ }).waitFor()
    await page.waitForURL('**?event=purchase')
  })

  await t.test('special days of the site are marked and removed, and a wrong one says why', async (t) => {
    const { page, browserErrors } = await open(t, `/probes/${volume.id}`)
    const panel = page.getByRole('region', { name: 'Special days' })
    await panel.getByText('no other days are marked', { exact: false }).waitFor()
    await panel.getByLabel('First day').fill('2026-11-27')
    await panel.getByLabel('Last day').fill('2026-11-26')
    await panel.getByLabel('What is special').fill('Black Friday')
    await panel.getByRole('button', { name: 'Mark as special' }).click()
    await panel.getByText('must not be before first_day').waitFor()
    assert.match(browserErrors.splice(0).join(), EXPECTED)
    await panel.getByLabel('Last day').fill('2026-11-30')
    await panel.getByRole('button', { name: 'Mark as special' }).click()
    await panel.getByRole('listitem').getByText('27 Nov 2026 to 30 Nov 2026').waitFor()
    await panel.getByRole('listitem').getByText('Black Friday', { exact: false }).waitFor()
    await staysAccessible(page)
    await panel.getByRole('button', { name: 'Remove 27 Nov 2026 to 30 Nov 2026' }).click()
    await panel.getByText('no other days are marked', { exact: false }).waitFor()
  })

  await t.test('a probe is run by hand, and its result opens with its details', async (t) => {
    const { page } = await open(t, `/probes/${probe.id}`)
    const rows = page.getByRole('region', { name: 'Results' }).getByRole('row')
    await rows.nth(1).waitFor()
    const before = await rows.count()
    await page.getByRole('button', { name: 'Run now' }).click()
    await rows.nth(before).waitFor()
    await rows.nth(1).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**?result=*')
    await page.getByText('What it was judged by').waitFor()
    await assertAccessible(page)
    await screenshot(page, 'probe-result', { scheme: 'light', device: 'desktop' })
    await page.getByText('JSON', { exact: true }).click()
    await page.getByText('"findings"').waitFor()
    await staysAccessible(page)
    await page.goBack()
    await page.getByText('What it was judged by').waitFor({ state: 'detached' })
  })

  await t.test('only changes of status can be shown, each with how long it lasted', async (t) => {
    const { page } = await open(t, `/probes/${probe.id}`)
    const rows = page.getByRole('region', { name: 'Results' }).getByRole('row')
    await rows.nth(1).waitFor()
    const before = await rows.count()
    await page.getByRole('radiogroup', { name: 'Which results' }).getByText('Changes of status').click()
    await page.waitForURL('**?results=changes')
    await rows.filter({ hasText: 'until now' }).waitFor()
    assert.ok((await rows.count()) < before, 'as many rows as results')
    await staysAccessible(page)
  })

  await t.test('what a type needs of the site is filled in on the spot', async (t) => {
    const bare = await demo.newSite({ id: site.client_id }, { name: 'Shop without a tag server' })
    const { page, browserErrors } = await open(t, '/probes/new')
    await choose(page, 'Site', 'Shop without a tag server')
    await page.getByRole('button', { name: /^Tag server health/ }).click()
    const add = page.getByRole('button', { name: 'Add the probe' })
    assert.equal(await add.isDisabled(), true)
    await page.getByLabel('Tag server address').fill('not an address')
    await page.getByRole('button', { name: 'Save to the site' }).click()
    await page.getByText('must be an http or https address').waitFor()
    await page.getByLabel('Tag server address').fill('https://sgtm.feldkamp-outdoor.example')
    await page.getByRole('button', { name: 'Save to the site' }).click()
    await page.getByText(/The site lacks what this check needs/).waitFor({ state: 'detached' })
    await page.getByLabel('Slow').fill('70000')
    await add.click()
    await page
      .getByText('must be 60000 or less')
      .or(page.getByText(/must be .*60,?000/))
      .first()
      .waitFor()
    await page.getByLabel('Slow').fill('2500')
    await page.getByRole('combobox', { name: 'Expected status' }).fill('204')
    await page.keyboard.press('Enter')
    await page.getByLabel('Check GTM JS').click({ force: true })
    await choose(page, 'Runs every', '15 min')
    await choose(page, 'Alerts', 'after 3 bad results in a row')
    await page.getByText(/An alert opens 30\smin to 45\smin after/).waitFor()
    await add.click()
    await page.getByRole('heading', { name: 'Tag server health', level: 1 }).waitFor()
    const made = (await demo.call('GET', `/api/probes?site_id=${bare.id}`)).json<
      { probe_type: string; interval_seconds: number; failure_threshold: number; config: Record<string, unknown> }[]
    >()
    const health = made.find(({ probe_type }) => probe_type === 'http_health') ?? assert.fail('not created')
    assert.equal(health.interval_seconds, 900)
    assert.equal(health.failure_threshold, 3)
    assert.equal(health.config.slow_ms, 2_500)
    assert.deepEqual(health.config.expected_status, [204])
    assert.equal(health.config.check_gtm_js, true)
    assert.ok(
      browserErrors.every((text) => EXPECTED.test(text)),
      browserErrors.join('\n'),
    )
    browserErrors.length = 0
  })

  await t.test('a probe that needs an id and a token says at their fields what is wrong', async (t) => {
    const { page, browserErrors } = await open(t, `/probes/new?site=${site.id}`)
    await page.getByRole('button', { name: /^Meta data quality/ }).click()
    await page.getByLabel('Dataset ID').fill('act_12345')
    assert.equal(await page.getByLabel(/^Access token/).getAttribute('type'), 'password')
    await page.getByRole('button', { name: 'Add the probe' }).click()
    await page.getByText('is required', { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Dataset ID').getAttribute('aria-invalid'), 'true')
    await staysAccessible(page)
    assert.match(browserErrors.splice(0).join(), EXPECTED)
  })

  await t.test('a secret is set, never shown, replaced and removed', async (t) => {
    const created = await demo.call('POST', '/api/probes', {
      site_id: site.id,
      probe_type: 'tag_server_infra',
      config: { hosting_a_token: 'secret-of-the-host' },
    })
    assert.equal(created.status, 201, created.text)
    const { id } = created.json<{ id: string }>()
    const secrets = async () =>
      (await demo.call('GET', `/api/probes/${id}`)).json<{ secrets_set: string[] }>().secrets_set
    const { page } = await open(t, `/probes/${id}/edit`)
    await page.getByRole('button', { name: 'Replace' }).waitFor()
    assert.equal((await page.content()).includes('secret-of-the-host'), false)
    await staysAccessible(page)
    await demo.ask('PATCH', `/api/probes/${id}`, { name: 'Named by someone else meanwhile' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Named by someone else meanwhile', level: 1 }).waitFor()
    assert.deepEqual(await secrets(), ['hosting_a_token'])
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Is removed when you save').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(`**/probes/${id}`)
    assert.deepEqual(await secrets(), [])
  })

  await t.test('a push probe is added, shows what to call, and what the job said', async (t) => {
    const { page } = await open(t, `/probes/new?site=${site.id}`)
    await page.getByRole('button', { name: /^Push/ }).click()
    await page.getByLabel('Name').fill('Nightly backup')
    await page.getByLabel('Period').fill('30')
    await page.getByRole('button', { name: 'Add the probe' }).click()
    const panel = page.getByRole('region', { name: 'Calls' })
    await panel.getByText('none yet').waitFor()
    const address = await panel.getByLabel('Address', { exact: true }).inputValue()
    assert.match(address, /^http.+\/push\/[\w-]{43}$/)
    assert.match(await panel.getByLabel('In a crontab').inputValue(), /^\*\/30 \* \* \* \* your-job; curl .+\/\$\?$/)
    await panel.getByRole('button', { name: 'Copy address' }).waitFor()
    const { pathname } = new URL(address)
    const markup = '<b>disk full</b>'
    assert.equal((await demo.call('POST', `${pathname}/fail`, { message: markup })).status, 200)
    // The page shows it by itself: the call has the probe run.
    await panel.getByText(`critical: ${markup}`).waitFor()
    await page.getByText(`The job says that it is critical: “${markup}”`).first().waitFor()
    const { pathname: path } = new URL(page.url())
    for (const variant of chiefly('phone')) {
      const { page: other } = await open(t, path, variant)
      await other.getByText(`critical: ${markup}`).waitFor()
      await assertAccessible(other)
      assert.equal(await sideways(other), 0, `the page scrolls sideways on a ${variant.device}`)
      await screenshot(other, 'push', variant)
    }
    await panel.getByRole('button', { name: 'New address …' }).click()
    await page.getByRole('button', { name: 'Make a new address' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.notEqual(await panel.getByLabel('Address', { exact: true }).inputValue(), address)
    assert.equal((await demo.call('GET', pathname)).status, 404)
  })

  await t.test('a list no longer has what someone else deleted, once its page or a button has said so', async (t) => {
    const add = (name: string) =>
      demo.ask<{ id: string }>('POST', '/api/probes', { site_id: site.id, probe_type: 'data_volume', name })
    const [opened, run] = [await add('Opened'), await add('Run')]
    const { page, browserErrors } = await open(t, `/sites/${site.id}/probes`)
    await page.getByRole('link', { name: 'Opened' }).waitFor()
    await demo.ask('DELETE', `/api/probes/${opened.id}`)
    await page.getByRole('link', { name: 'Opened' }).click()
    await page.getByRole('heading', { name: 'Probe not found' }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Opened' }).waitFor({ state: 'detached' })
    // Not before: the list renews itself, and may have lost the button by the time it is clicked.
    await page.route(`**/api/probes/${run.id}/run`, async (route) => {
      await demo.ask('DELETE', `/api/probes/${run.id}`)
      await route.continue()
    })
    await page.getByRole('button', { name: 'Run Run now' }).click()
    await page.getByRole('link', { name: 'Run', exact: true }).waitFor({ state: 'detached' })
    // What it still asks of the deleted probe may be answered later.
    await page.reload()
    for (const error of browserErrors.splice(0)) assert.match(error, /status of 404/)
  })

  await t.test('a probe is paused and deleted, by its name only', async (t) => {
    const created = await demo.call('POST', '/api/probes', {
      site_id: site.id,
      probe_type: 'data_volume',
      name: 'Doomed',
    })
    assert.equal(created.status, 201, created.text)
    const { page } = await open(t, `/sites/${site.id}/probes`)
    await page.getByRole('button', { name: 'More for Doomed' }).click()
    await page.getByRole('menuitem', { name: 'Pause …' }).click()
    await page
      .getByRole('dialog')
      .getByText(/^It does not run/)
      .waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByRole('row').filter({ hasText: 'Doomed' }).getByText('paused', { exact: true }).waitFor()
    await page.getByText('Paused', { exact: true }).click()
    await page.waitForURL('**?filter=off')
    await page.getByRole('button', { name: 'More for Doomed' }).click()
    await page.getByRole('menuitem', { name: 'Delete …' }).waitFor()
    await staysAccessible(page)
    await page.getByRole('menuitem', { name: 'Delete …' }).click()
    const confirm = page.getByRole('button', { name: 'Delete the probe' })
    assert.equal(await confirm.isDisabled(), true)
    await staysAccessible(page)
    await page.getByLabel('To confirm, type Doomed').fill('Doomed')
    await confirm.click()
    await page.getByText('No probe is paused').waitFor()
  })

  await t.test('a site without probes shows what they are for', async (t) => {
    const fresh = await demo.newSite(await demo.newClient({ name: 'Newcomer' }), { name: 'Bare site' })
    const { page } = await open(t, `/sites/${fresh.id}/probes`)
    await page.getByRole('heading', { name: 'No probe watches this site' }).waitFor()
    await staysAccessible(page)
  })
})
