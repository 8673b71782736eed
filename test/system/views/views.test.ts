import assert from 'node:assert/strict'
import { enginesInTurn, testPerEngine } from '../../../testkit/engines.ts'
import { amount } from '../../../testkit/length.ts'
import { Random } from '../../../testkit/random.ts'
import { act, changeWorld, deleteSite } from './acts.ts'
import { compareTools, connect } from './assistant.ts'
import { compareLists, compareModel, compareOthers, compareOverview, compareToday, type Say, sayer } from './compare.ts'
import { Auditor } from './compare-audit.ts'
import { compareShared, Subscriber } from './compare-shared.ts'
import { compareListener, listen } from './listener.ts'
import { beginStory, STEP, type Story } from './story.ts'
import { activeSites, byId, narrowed, readTruth, type Truth } from './truth.ts'

/** The stream is looked at every two seconds by the clock of the machine: often enough of a long story is seldom. */
const LISTENS_EVERY = 8
/** A step takes half a second of a processor: by day a few, in which people do more. */
const STEPS = amount(4, 4 * LISTENS_EVERY)
const LEAST_ACTS = amount(2, 0)
const ALL = ['clients', 'sites', 'probes', 'alerts', 'incidents', 'silences', 'maintenance'] as const

for (const seed of Array.from({ length: amount(1, 6) }, (_, n) => n + 1)) {
  testPerEngine(
    `whatever happens, every page, feed and message says the same (story ${seed})`,
    async (engine, t) => {
      const story = await beginStory(t, engine, new Random(seed))
      const views = await openViews(story)
      const wrong: string[] = []
      for (let n = 1; n <= STEPS && wrong.length === 0; n++) {
        const say = sayer(wrong)
        await changeWorld(story)
        for (let acts = LEAST_ACTS + story.random.below(3); acts > 0; acts--)
          await views.auditor.read(say, await act(story))
        const [site] = story.sites
        if (n === STEPS && site !== undefined) await views.auditor.read(say, await deleteSite(story, site))
        await story.settle()
        await views.auditor.read(say, null)
        await compareAll(story, views, say, n)
        if (n === STEPS) await views.auditor.compare(say, story.narrow, story.acme.id)
        story.clock.advance(STEP)
      }
      if (wrong.length > 0) t.diagnostic([...story.log, ...views.subscriber.said].join('\n'))
      assert.deepEqual(wrong, [])
    },
    enginesInTurn,
  )
}

type Views = Awaited<ReturnType<typeof openViews>>

/** Those that stay open through the story. */
async function openViews({ t, url, admin }: Story) {
  const auditor = new Auditor(admin)
  await auditor.begin()
  return {
    auditor,
    listener: await listen(t, url),
    call: await connect(t, url),
    subscriber: new Subscriber(),
    /** Days that are written down, and change no more. */
    finals: new Map<string, unknown>(),
  }
}

/** Everything that speaks of the state, against the lists of everything, and these against what the story knows. */
async function compareAll(story: Story, views: Views, say: Say, n: number): Promise<void> {
  const { admin, acme, clock } = story
  const truth = await readTruth(admin)
  compareModel(say, story, truth)
  const overview = await compareOverview(say, admin, story, truth)
  await compareToday(say, admin, story, truth)
  await compareOthers(say, story, truth, overview)
  const page = await compareShared(say, story, truth, views.finals)
  views.subscriber.read(story)
  const sites = activeSites(truth).filter(({ client_id }) => client_id === acme.id)
  if (page !== null) views.subscriber.compare(say, page, truth, sites)
  if (n % 2 === 0) await compareLists(say, admin, truth, clock.now())
  else await compareNarrow(say, story, truth)
  if (n % LISTENS_EVERY === 0 || n === STEPS) {
    await compareTools(say, views.call, truth)
    await compareListener(say, views.listener, truth, overview)
  }
}

/** To someone with a role in one client only. */
async function compareNarrow(say: Say, story: Story, truth: Truth): Promise<void> {
  const { narrow, acme, clock, sites } = story
  const part = narrowed(truth, acme.id)
  const seen = await readTruth(narrow)
  for (const name of ALL) say(`${name} that one client sees`, byId(seen[name]), byId(part[name]))
  const own: Say = (what, ...rest) => say(`to one client, ${what}`, ...rest)
  await compareLists(own, narrow, seen, clock.now())
  await compareOverview(own, narrow, story, seen)
  await compareToday(own, narrow, story, seen)
  for (const { id } of sites.filter(({ client_id }) => client_id !== acme.id))
    say('a site of others', (await narrow.call('GET', `/api/sites/${id}`)).status, 404)
}
