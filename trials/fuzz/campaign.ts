import type { ApiClient, SiteKey } from '../../testkit/api.ts'
import type { ServerProcess } from '../../testkit/processes/server-process.ts'
import type { Random } from '../../testkit/random.ts'
import { Failures } from './failures.ts'
import { newSites, Victim } from './fixture.ts'
import { ApiAttack } from './generators/api.ts'
import { mutated } from './generators/bytes.ts'
import { cutAttack, type FramingAttack, framingAttacks } from './generators/framing.ts'
import { headerText } from './generators/headers.ts'
import { IngestAttack } from './generators/ingest.ts'
import { HostileValues } from './generators/values.ts'
import { HostileSenders } from './hostile-senders.ts'
import { isIngest, type Operation, readOperations } from './operations.ts'
import { faultOf } from './oracle.ts'
import { Tally } from './tally.ts'
import { sendAlone } from './wire/alone.ts'
import { allAnswers, type HttpAnswer, MalformedAnswer } from './wire/answers.ts'
import { toBytes } from './wire/message.ts'
import { runPipeline, type Shot } from './wire/pipeline.ts'
import { type Account, countFault, newAccount, Witness } from './witness.ts'

export interface CampaignOptions {
  server: ServerProcess
  api: ApiClient
  /** Keys that attackers hold or guess; empty where no key is needed. */
  tokens: readonly string[]
  random: Random
  seed: number
  canary: string
  progress: (text: string) => void
}

const PIPELINES = 24
const LONE_CONNECTIONS = 64
/** Share of requests whose bytes are mutated, and of bent HTTP: they need a connection each. */
const BYTES_SHARE = 0.15
const FRAMING_SHARE = 0.02
const INGEST_SHARE = 0.5
/** Of the requests to ingest: valid, and meant to hurt. Few, as they are large. */
const VALID_SHARE = 0.04
/** One of so many requests on the attacked connections is a healthy one. */
const WITNESS_EVERY = 200
const RESTORE_EVERY = 2_500
const FAILED_RESTORES_MAX = 100
const CORPUS_SIZE = 300
const LONGEST_REMEMBERED = 4_000
/** Asked for behind each broken request: its answer shows that the connection is understood again, or ended. */
const SENTINEL = Buffer.from('\r\n\r\nGET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')

/** All attacks on one running server, and what came of them. */
export class Campaign {
  readonly tally = new Tally()
  readonly failures: Failures
  readonly witness: Witness
  readonly victim: Victim
  readonly senders: HostileSenders
  /** A name that is kept by design. */
  readonly keptName: string
  readonly #options: CampaignOptions
  readonly #random: Random
  readonly #hostile: HostileValues
  readonly #ingest: IngestAttack
  readonly #api: ApiAttack
  readonly #corpus: Buffer[] = []
  readonly #framing: FramingAttack[]
  /** Takes attacked submissions of one event, whose counts are compared; the other takes all else. */
  readonly #counted: SiteKey
  readonly #uncounted: SiteKey
  readonly account: Account = newAccount()
  #restoredAt = 0
  #failedRestores = 0
  #restoring: Promise<void> | null = null

  private constructor(
    options: CampaignOptions,
    operations: readonly Operation[],
    victim: Victim,
    [witness, counted, uncounted]: SiteKey[],
    hostile: SiteKey,
  ) {
    if (witness === undefined || counted === undefined || uncounted === undefined) throw new Error('a site is missing')
    this.#options = options
    this.#random = options.random
    this.failures = new Failures(options.seed, options.progress)
    this.victim = victim
    this.keptName = `kept_${options.random.below(2 ** 32)}`
    this.witness = new Witness(witness, this.keptName)
    this.#counted = counted
    this.#uncounted = uncounted
    this.#hostile = new HostileValues(options.random.fork())
    this.#ingest = new IngestAttack(options.random.fork(), this.#hostile, options.canary)
    this.senders = new HostileSenders(hostile, options.random.fork())
    this.#api = new ApiAttack(options.random.fork(), this.#hostile, operations, victim)
    const body = JSON.stringify({ container_id: 'GTM-X', event_name: 'x', timestamp_ms: 0, tags: [] })
    this.#framing = framingAttacks({ key: uncounted.ingest_key, body })
  }

  static async prepare(options: CampaignOptions): Promise<Campaign> {
    const sites = await newSites(options.api, 'Attacked', 3)
    const [hostile] = await newSites(options.api, 'Hostile', 1)
    if (hostile === undefined) throw new Error('a site is missing')
    const victim = new Victim(options.api)
    await victim.restore()
    const described = await readOperations(options.api.url)
    // The first account closes an open service, as it is to: there this call is left alone. With keys it is tried like all others.
    const isOpen = options.tokens.length === 0
    const operations = described.filter(({ method, path }) => !(isOpen && method === 'POST' && path === '/api/users'))
    return new Campaign(options, operations, victim, sites, hostile)
  }

  /** Sites whose recent payloads may be looked at. */
  get siteIds(): string[] {
    return [this.witness.site.id, this.#counted.id, this.#uncounted.id, this.senders.site.id]
  }

  /** Sends `requests` attacks. */
  async attack(requests: number): Promise<void> {
    const lone = Math.round(requests * (BYTES_SHARE + FRAMING_SHARE))
    let [pipelined, alone] = [requests - lone, lone]
    const { port } = this.#options.server
    const next = async () => {
      if (pipelined <= 0) return null
      pipelined--
      await this.#restoreVictim()
      return this.#shot()
    }
    const onFailure = (shot: Shot, why: string) => this.failures.add(why, 'pipelined', shot.bytes)
    await Promise.all([
      ...Array.from({ length: PIPELINES }, () => runPipeline({ port, next, onFailure })),
      ...Array.from({ length: LONE_CONNECTIONS }, async () => {
        while (alone > 0) {
          alone--
          await this.#attackAlone()
        }
      }),
    ])
  }

  /** Every trick of the wire once. */
  async bendHttp(): Promise<void> {
    for (const attack of this.#framing) await this.#bend(attack)
  }

  /** Whether the service still counts what it acknowledged, no more and no less. */
  async checkCounts(): Promise<void> {
    const { api } = this.#options
    for (const refused of this.witness.refused.splice(0)) {
      this.failures.add(`a healthy request was answered ${refused}`, 'witness', null)
    }
    const healthy = await countFault(api, this.witness.site, this.witness.account)
    if (healthy !== null) this.failures.add(`healthy requests: ${healthy}`, 'witness', null)
    const attacked = await countFault(api, this.#counted, this.account)
    if (attacked !== null) this.failures.add(`attacked site: ${attacked}`, 'ingest', null)
    const sent = await countFault(api, this.senders.site, this.senders.account)
    if (sent !== null) this.failures.add(`hostile senders: ${sent}`, 'valid', null)
    const charged = await this.senders.usageFault(api)
    if (charged !== null) this.failures.add(`hostile senders: ${charged}`, 'valid', null)
    const ready = await api.call('GET', '/ready')
    if (ready.status !== 200) this.failures.add(`/ready answers ${ready.status} ${ready.text}`, 'witness', null)
  }

  #shot(): Shot {
    const random = this.#random
    this.tally.sent()
    if (this.tally.requests % WITNESS_EVERY === 0) return this.witness.shot()
    if (!random.chance(INGEST_SHARE)) return this.#apiShot()
    return random.chance(VALID_SHARE) ? this.#validShot() : this.#ingestShot()
  }

  #validShot(): Shot {
    return this.senders.shot((bytes, answer, fault) => {
      this.#judge('valid', bytes, answer, false, true)
      if (fault !== null) this.failures.add(fault, 'valid', bytes)
    })
  }

  #ingestShot(): Shot {
    const keys = { counted: this.#counted.ingest_key, uncounted: this.#uncounted.ingest_key }
    const { message, counts } = this.#ingest.next((isOneEvent) => (isOneEvent ? keys.counted : keys.uncounted))
    const bytes = toBytes(message)
    this.#remember(bytes)
    return {
      bytes,
      isHead: false,
      onAnswer: (answer) => {
        this.#judge('ingest', bytes, answer, false, true)
        if (answer.status === 200 && counts !== null) this.account.acknowledged += counts
      },
      onUncertain: () => {
        if (counts !== null) this.account.uncertain += counts
      },
    }
  }

  #apiShot(): Shot {
    const { operation, message } = this.#api.next(this.#baseHeaders())
    const bytes = toBytes(message)
    this.#remember(bytes)
    const isHead = message.method === 'HEAD'
    const generator = isIngest(operation) ? 'ingest' : 'interface'
    return {
      bytes,
      isHead,
      onAnswer: (answer) => {
        const isPlain = isIngest(operation) && message.method === 'POST'
        this.#judge(generator, bytes, answer, isHead, isPlain ? true : null)
        if (answer.status === 201) this.#takeBack(operation, answer)
      },
    }
  }

  /** What an attack created is deleted again, or the store would grow as it should. */
  #takeBack({ path }: Operation, { body }: HttpAnswer): void {
    const created: unknown = JSON.parse(body.toString())
    if (typeof created !== 'object' || created === null || !('id' in created)) return
    if (this.victim.ids.includes(String(created.id))) return
    // All other connections will find that the server is gone.
    void this.#options.api.call('DELETE', `${path}/${String(created.id)}`).catch(() => undefined)
  }

  #baseHeaders(): [string, string][] {
    const random = this.#random
    const address = `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`
    const headers: [string, string][] = [
      ['Host', '127.0.0.1'],
      ['X-Forwarded-For', address],
    ]
    const token = random.anyOf(this.#options.tokens)
    if (token !== undefined && random.chance(0.9)) headers.push(['Authorization', `Bearer ${token}`])
    else if (random.chance(0.1)) headers.push(['Authorization', `Bearer ${headerText(this.#hostile.text())}`])
    return headers
  }

  async #attackAlone(): Promise<void> {
    const random = this.#random
    this.tally.sent()
    if (random.chance(FRAMING_SHARE / (BYTES_SHARE + FRAMING_SHARE))) {
      const attack = cutAttack(random, this.#framing)
      if (attack !== undefined) await this.#bend(attack)
      return
    }
    const original = random.anyOf(this.#corpus)
    if (original === undefined) return
    const bytes = Buffer.concat([mutated(random, original, this.#corpus), SENTINEL])
    await this.#sendAlone('bytes', bytes, {})
  }

  async #bend({ bytes, pauses = [], hangUp = false }: FramingAttack): Promise<void> {
    await this.#sendAlone('framing', bytes, { pauses, hangUp })
  }

  async #sendAlone(generator: string, bytes: Buffer, how: { pauses?: number[]; hangUp?: boolean }): Promise<void> {
    const { received, end, isCut, isConnected } = await sendAlone(this.#options.server.port, bytes, how)
    if (how.hangUp === true) return
    if (end !== 'closed') {
      const state = `${isConnected ? 'open' : 'never open'}, ${received.length} bytes came, ${isCut ? 'we had ended' : 'we had not ended'}`
      this.failures.add(`the connection was ${end}: ${state}`, generator, bytes)
    }
    let answers: HttpAnswer[] = []
    try {
      answers = allAnswers(received, bytes.includes('HEAD '), isCut)
    } catch (thrown) {
      if (!(thrown instanceof MalformedAnswer)) throw thrown
      this.failures.add(thrown.message, generator, bytes)
    }
    if (answers.length === 0) this.tally.closed(generator)
    for (const answer of answers) this.#judge(generator, bytes, answer, answer.body.length === 0, null)
  }

  #judge(generator: string, bytes: Buffer, answer: HttpAnswer, isHead: boolean, isIngestPath: boolean | null): void {
    this.tally.answered(generator, answer.status)
    // What is no HTTP never reaches ingest.
    const isNoHttp = answer.isLast && answer.body.includes('is not valid HTTP')
    const fault = faultOf(answer, bytes, isHead, isNoHttp || answer.status === 431 ? null : isIngestPath)
    if (fault !== null) this.failures.add(fault, generator, bytes)
  }

  /** For pieces to be cut from. Not with the canary: mutated, it could end up where a name belongs, which is kept. */
  #remember(bytes: Buffer): void {
    if (bytes.length > LONGEST_REMEMBERED || bytes.includes(this.#options.canary)) return
    if (this.#corpus.length < CORPUS_SIZE) this.#corpus.push(bytes)
    else this.#corpus[this.#random.below(CORPUS_SIZE)] = bytes
  }

  /** One at a time; the others wait for it. */
  async #restoreVictim(): Promise<void> {
    if (this.#restoring !== null) await this.#restoring
    if (this.tally.requests - this.#restoredAt < RESTORE_EVERY) return
    this.#restoredAt = this.tally.requests
    this.#restoring = this.victim
      .restore()
      .catch((thrown: unknown) => {
        // Attacks under way may take away what it has just made; the next time is soon.
        this.#failedRestores++
        if (this.#failedRestores === FAILED_RESTORES_MAX) throw thrown
      })
      .then(() => {
        this.#restoring = null
      })
    await this.#restoring
  }
}
