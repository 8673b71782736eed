import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Container, type ContainerOptions, parseTemplate, type Template } from '../../tag/sandbox/index.ts'
import type { SiteKey } from '../../testkit/api.ts'
import { TestClock } from '../../testkit/clock.ts'
import { Random } from '../../testkit/random.ts'
import { startTestService, type TestService } from '../../testkit/service.ts'
import type { Overview } from './counts.ts'
import { EXCLUDED_TAG, type Fired, OWN_TAG, randomEvent } from './traffic.ts'

export const NOW = Date.parse('2026-11-20T10:00:30.000Z')
/** Where the tag sends to; the container's `connect` says who answers there. */
export const ORIGIN = 'https://tagwarden.test'

const TEMPLATE_PATH = join(import.meta.dirname, '../../tag/template.tpl')

/** The first version of the template, as it may still run in containers that no one has updated. */
const FIRST_PATH = join(import.meta.dirname, 'fixtures/template-v1.tpl')

export const templateText = (): Promise<string> => readFile(TEMPLATE_PATH, 'utf8')
export const readTemplate = async (): Promise<Template> => parseTemplate(await templateText())
export const readFirstTemplate = async (): Promise<Template> => parseTemplate(await readFile(FIRST_PATH, 'utf8'))

/**
 * The clock of these tests stands still, but time limits of requests and promises run in real time: what is answered late only because
 * the machine is busy must not count as unanswered. Tests of late answers set their own.
 */
export const PATIENCE = 20

type Options = Omit<ContainerOptions, 'template' | 'clock' | 'connect'> & { template?: Template }

/** A container with the template as its one monitoring tag, whose requests to `ORIGIN` are answered by `address`. */
export async function openContainer(
  t: TestContext,
  clock: TestClock,
  address: string,
  { template, ...options }: Options,
): Promise<Container> {
  const container = new Container({
    containerId: 'GTM-ABC1234',
    tagId: OWN_TAG,
    timeoutScale: PATIENCE,
    ...options,
    template: template ?? (await readTemplate()),
    clock,
    connect: { [ORIGIN]: address },
  })
  t.after(() => container.close())
  return container
}

/** Instances of a container that `fireMany` fires at. */
export const INSTANCES = 3
/** So many requests may be under way at once. */
const STRIDE = 150

/** Fires `count` random events over all instances in turn; `each` is called for every one. */
export async function fireMany(
  container: Container,
  count: number,
  seed: number,
  each: (fired: Fired, n: number) => void,
): Promise<void> {
  const random = new Random(seed)
  for (let n = 0; n < count; n++) {
    const fired = randomEvent(random)
    const run = await container.fire(fired.data, fired.tags, { instance: n % INSTANCES })
    assert.deepEqual([run.status, run.errors], ['success', []])
    each(fired, n)
    if (n % STRIDE === STRIDE - 1) await container.idle()
  }
  await container.idle()
}

/** The form filled in for `ingestKey`; `over` replaces fields. */
export const fieldsFor = (ingestKey: string, over: Options['fields'] = {}): Options['fields'] => ({
  endpoint: `${ORIGIN}/ingest`,
  ingestKey,
  trackUserData: true,
  excludeTagIds: [{ tagId: String(EXCLUDED_TAG) }, { tagId: String(OWN_TAG) }],
  ...over,
})

export interface Monitored {
  clock: TestClock
  api: TestService
  site: SiteKey
}

/** A running service with one site. */
export async function startMonitored(t: TestContext, environment: Record<string, string> = {}): Promise<Monitored> {
  const clock = new TestClock(NOW)
  const api = await startTestService(t, clock, environment)
  return { clock, api, site: await api.newSite(await api.newClient()) }
}

export async function overviewOf({ api, site }: Monitored, hours = 3): Promise<Overview> {
  await api.service.ingest.flush()
  const answer = await api.call('GET', `/api/monitoring/sites/${site.id}/overview?hours=${hours}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Overview>()
}
