import assert from 'node:assert/strict'
import { HOUR, isoTime, MINUTE } from '../../src/lib/index.ts'
import { announcedIncidents, announceIncidents, incidentsSince } from '../../src/sharing/announced-incidents.ts'
import { pastIncidents } from '../../src/sharing/history.ts'
import { subscribe } from '../../src/sharing/subscribers.ts'
import type { StatusChange } from '../../src/sharing/subscription-mails.ts'
import type { Store } from '../../src/store/index.ts'
import { testLogic } from '../../testkit/engines.ts'
import { amount } from '../../testkit/length.ts'
import { Random } from '../../testkit/random.ts'
import { act, changeWorld, settle } from '../alerts/stories/acts.ts'
import { beginStory, type Story } from '../alerts/stories/story.ts'

const STEP = 5 * MINUTE
/** By then what the page shows is announced: a part of another incident half an hour after that one's end, and the rest at the next look. */
const PATIENCE = 30 * MINUTE + 2 * STEP

/** Someone who subscribed to the status page of the story's client, and believes what the e-mails say. */
class Subscriber {
  readonly #story: Story
  /** What contradicts the page or an earlier e-mail, in words. */
  readonly wrong: string[] = []
  /** By the incident's id: whether it lasts. */
  readonly #beliefs = new Map<string, boolean>()
  /** By the incident's id: since when the page has shown something else, epoch ms. */
  #wrongSince = new Map<string, number>()
  #until: number

  constructor(story: Story) {
    this.#story = story
    this.#until = story.clock.now()
  }

  async read(): Promise<void> {
    const { store, clock, client } = this.#story
    const rows = await announcedIncidents(store, client.id, clock.now())
    const changes = incidentsSince(rows, await sitesOf(this.#story), this.#until, clock.now())
    for (const change of changes.sort((a, b) => a.at - b.at)) this.#readOne(change)
    this.#until = changes.at(-1)?.at ?? this.#until
  }

  #readOne({ kind, id, title }: StatusChange): void {
    const { note } = this.#story
    const blame = (words: string) => this.#blame(words)
    const name = nameOf(id, title)
    note(`  → subscriber: ${kind} ${name}`)
    const known = this.#beliefs.get(id)
    if (kind === 'opened' && known !== undefined) blame(`${name} opened: it was known`)
    if (kind === 'back' && known !== false) blame(`${name} is back: it was not known to be over`)
    if (kind === 'resolved' && known !== true) blame(`${name} is over: it was not known to be open`)
    this.#beliefs.set(id, kind !== 'resolved')
  }

  #blame(words: string): void {
    this.#story.note(`!!! ${words}`)
    this.wrong.push(`${isoTime(this.#story.clock.now())} ${words}`)
  }

  /** Compares what is believed with what the page shows. */
  async compare(): Promise<void> {
    const { store, clock, client } = this.#story
    const now = clock.now()
    const { incidents: shown } = await pastIncidents(store.read, client.id, await sitesOf(this.#story), now)
    const wrong = new Map<string, string>()
    for (const { id, title, resolved_at } of shown) {
      const isKnown = this.#beliefs.get(id) === true
      if (resolved_at === null && !isKnown) wrong.set(id, `no e-mail says that ${nameOf(id, title)} lasts`)
    }
    for (const { id, title, resolved_at } of await this.#story.incidents()) {
      const isKnown = this.#beliefs.get(id) === true
      if (resolved_at !== null && isKnown) wrong.set(id, `no e-mail says that ${nameOf(id, title)} is over`)
    }
    this.#wrongSince = new Map([...wrong.keys()].map((id) => [id, this.#wrongSince.get(id) ?? now]))
    for (const [id, words] of wrong) {
      if (now - (this.#wrongSince.get(id) ?? now) > PATIENCE) this.#blame(words)
    }
  }
}

const nameOf = (id: string, title: string): string => `“${title}” (${id.slice(9, 13)})`

const sitesOf = ({ store, client }: Story) =>
  store.read.selectFrom('sites').selectAll().where('client_id', '=', client.id).execute()

/** Someone subscribes to the page, so that what it shows is announced. */
async function share(store: Store, { client, clock }: Story): Promise<void> {
  const link = { client_id: client.id, token: 'a'.repeat(43), created_at: clock.now(), created_by: 'ada' }
  await store.write.insertInto('status_links').values(link).execute()
  await subscribe(store, { id: client.id, token: link.token }, 'reader@client.example', clock.now())
}

for (const seed of Array.from({ length: amount(1, 24) }, (_, n) => n + 1)) {
  testLogic(
    `whatever happens, who subscribed to a status page knows from the e-mails what it shows (story ${seed})`,
    async (store, t) => {
      const random = new Random(seed)
      const story = await beginStory(t, store, random)
      await share(store, story)
      const subscriber = new Subscriber(story)
      const nervous = new Set<string>()
      for (let n = 0; n < amount(40, 160); n++) {
        await changeWorld(story, random, nervous)
        if (random.chance(0.12)) await act(story, random)
        if (random.chance(0.2)) story.failing.clear()
        await story.pass(STEP)
        await announceIncidents(story)
        // The mail server may be away meanwhile.
        if (random.chance(0.3)) continue
        await subscriber.read()
        await subscriber.compare()
      }
      await settle(story)
      for (let ms = 0; ms < 6 * HOUR; ms += 2 * STEP) {
        await story.pass(2 * STEP)
        await announceIncidents(story)
        await subscriber.read()
        await subscriber.compare()
      }
      if (subscriber.wrong.length > 0) t.diagnostic(story.log.join('\n'))
      assert.deepEqual(subscriber.wrong, [])
    },
  )
}
