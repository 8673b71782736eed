import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { InvitedUser } from '../../src/accounts/index.ts'
import { apiClient } from '../../testkit/api.ts'
import { AT_NIGHT } from '../../testkit/length.ts'
import { type Demo, startDemo } from './support/demo.ts'
import { answered, follow, openPage } from './support/page.ts'

const ADMIN_TOKEN = 'admin-token-of-the-test-0123456789'
const PASSWORD = 'correct horse battery staple'

interface Role {
  client_id: string | null
  role: 'viewer' | 'editor' | 'owner'
}

/** Opens the dashboard as someone with these roles. @returns its page, and the requests that were refused, which it empties as it is read */
async function openAs(t: TestContext, demo: Demo, name: string, roles: readonly Role[]) {
  const email = `${name}@agency.example`
  const { link } = await demo.ask<InvitedUser>('POST', '/api/users', { email, roles })
  const anonymous = apiClient(demo.url)
  const secret = new URL(link?.url ?? '').hash.slice(1)
  await anonymous.ask('POST', '/api/password-links/use', { secret, password: PASSWORD })
  const { headers } = await anonymous.call('POST', '/api/session', { email, password: PASSWORD })
  const [cookie = '', value = ''] = (headers.get('set-cookie')?.split(';')[0] ?? '').split('=')
  const { page, browserErrors } = await openPage(t, demo.url, 'about:blank')
  await page.context().addCookies([{ name: cookie, value, url: demo.url }])
  await page.goto(`${demo.url}/overview`)
  return { page, refused: () => browserErrors.splice(0) }
}

async function show(page: Page, path: string): Promise<void> {
  await follow(page, path)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await answered(page)
}

const handles = (page: Page): Promise<number> => page.getByRole('button', { name: /^(Acknowledge|Resolve)$/ }).count()

test('each role', async (t) => {
  const demo = await startDemo(t, { ADMIN_TOKEN }, ADMIN_TOKEN)
  const incidents = await demo.ask<{ id: string; client_id: string | null }[]>('GET', '/api/incidents?resolved=false')
  const ofVendor = incidents.find(({ client_id }) => client_id === null) ?? assert.fail('no incident of a vendor')
  const [own, others] = [...new Set(incidents.flatMap(({ client_id }) => client_id ?? []))]
  assert.ok(own !== undefined && others !== undefined)
  const incidentOf = (client: string) => incidents.find(({ client_id }) => client_id === client)?.id ?? assert.fail()

  await t.test('who changes one client and sees all is offered to handle what is of that client alone', async (t) => {
    const roles: readonly Role[] = [
      { client_id: null, role: 'viewer' },
      { client_id: own, role: 'editor' },
    ]
    const { page, refused } = await openAs(t, demo, 'both', roles)
    await show(page, `/incidents/${incidentOf(own)}`)
    assert.equal(await handles(page), 2)
    await show(page, `/incidents/${incidentOf(others)}`)
    assert.equal(await handles(page), 0)
    await show(page, `/incidents/${ofVendor.id}`)
    assert.equal(await handles(page), 0, 'an incident of a vendor takes a role for all clients')
    assert.deepEqual(refused(), [])
    const status = await page.evaluate<number>(
      `fetch('/api/incidents/${ofVendor.id}/acknowledge', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
        .then(({ status }) => status)`,
    )
    assert.equal(status, 403)
    refused()
  })

  await t.test('who sees one client is refused nothing by the pages that lead through it', AT_NIGHT, async (t) => {
    const site = demo.sites.find(({ client_id }) => client_id === own) ?? assert.fail('no site')
    const [probe] = await demo.ask<{ id: string }[]>('GET', `/api/probes?site_id=${site.id}`)
    const [alert] = await demo.ask<{ id: string }[]>('GET', `/api/alerts?site_id=${site.id}`)
    const ofSite = `/sites/${site.id}`
    const pages = [
      ...['/today', '/incidents', `/incidents/${incidentOf(own)}`, '/alerts', `/alerts/${alert?.id}`],
      ...[
        ofSite,
        `${ofSite}?tab=tags`,
        `${ofSite}?tab=payloads`,
        `${ofSite}/setup`,
        `${ofSite}/probes`,
        `${ofSite}/edit`,
      ],
      ...[
        `${ofSite}/keys`,
        '/tags',
        `/compare?a=${site.id}&b=${site.id}`,
        '/probes',
        '/probes/new',
        `/probes/${probe?.id}`,
      ],
      ...[
        '/maintenance',
        '/clients',
        '/clients/new',
        `/clients/${own}`,
        `/clients/${own}/edit`,
        `/clients/${own}/sites/new`,
      ],
      ...[
        '/audit',
        '/settings',
        '/settings?tab=deliveries',
        '/settings?tab=people',
        '/settings?tab=tokens',
        '/account',
      ],
    ]
    for (const role of ['viewer', 'editor', 'owner'] as const) {
      const { page, refused } = await openAs(t, demo, role, [{ client_id: own, role }])
      for (const path of pages) {
        await show(page, path)
        assert.deepEqual(refused(), [], `${path} as ${role}`)
      }
    }
  })
})
