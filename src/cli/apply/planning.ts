import type { InvitedUser } from '../../accounts/index.ts'
import { type Api, RefusedError } from './api.ts'
import type { Change, FieldChange, Ref, Stage } from './change.ts'
import type { Problem } from './problems.ts'
import type { Source, Wanted } from './wanted.ts'

/** Someone who was invited; the link is said by the service once. */
export interface Invitation {
  email: string
  link: InvitedUser['link']
}

type Fields = Readonly<Record<string, unknown>>

/** What something belongs to. */
export interface Owner {
  ref: Ref
  /** For people: `“Shop” (“Acme”)`. */
  name: string
  /** The field by which maintenance names it. */
  scope: 'client_id' | 'site_id' | 'probe_id'
}

interface Creation {
  what: string
  stage: Stage
  source: Source
  ref: Ref
  path: string
  body: () => unknown
}

interface Update {
  what: string
  stage: Stage
  source: Source
  path: string
  /** What the plan is made by, and the fields of it that are to change. */
  record: Fields
  names: readonly string[]
  body: Fields
  fields: readonly FieldChange[]
  /** Reads the record again. */
  read: () => Promise<Fields | undefined>
}

interface Options {
  api: Api
  /** Whether what no file names is deleted, in the lists that a file gives. */
  prune: boolean
  /** Epoch ms. */
  now: number
  /** The logo of a client's file as base64, null for none; undefined where it gives none. */
  logoOf: (source: Source) => string | null | undefined
}

/** Gathers the changes of a plan. */
export class Planning {
  readonly changes: Change[] = []
  readonly kept: string[] = []
  readonly problems: Problem[] = []
  /** Those that there will be, by name: of a name that the service has twice several. */
  readonly clients = new Map<string, Ref[]>()
  /** By the names of the files' clients: how people see them. */
  readonly #labels = new Map<string, string>()
  /** Gathered while the plan is carried out. */
  readonly invitations: Invitation[] = []
  readonly api: Api
  readonly now: number
  readonly logoOf: Options['logoOf']
  readonly prune: boolean

  constructor({ api, prune, now, logoOf }: Options) {
    this.api = api
    this.now = now
    this.logoOf = logoOf
    this.prune = prune
  }

  match<W extends Wanted, P>(
    what: string,
    wanted: readonly W[],
    present: readonly P[],
    nameOf: (present: P) => string,
  ): Matched<W, P> {
    return matchByName(what, wanted, present, nameOf, this.problems)
  }

  noteClient(name: string, ref: Ref, label = name): void {
    this.clients.set(name, [...(this.clients.get(name) ?? []), ref])
    this.#labels.set(name, label)
  }

  labelOf(client: string): string {
    return this.#labels.get(client) ?? client
  }

  add(change: Change): void {
    this.changes.push(change)
  }

  create({ path, body, ...of }: Creation): void {
    this.add({ action: 'create', ...of, fields: [], calls: () => [{ method: 'POST', path, body: body() }] })
  }

  /** Adds nothing where nothing differs. */
  update({ path, record, names, body, fields, read, ...of }: Update): void {
    if (fields.length === 0) return
    const seen = (found: Fields | undefined) => found && Object.fromEntries(names.map((name) => [name, found[name]]))
    this.add({
      ...{ action: 'update', ...of, fields },
      calls: () => [{ method: 'PATCH', path, body }],
      recheck: { basis: seen(record), read: async () => seen(await unlessGone(read())) },
    })
  }

  /** What no file names: deleted or kept. @param loss what goes with it, for people */
  leave(what: string, path: string, loss = '', stage: Stage = 'deletions'): void {
    if (!this.prune) {
      this.kept.push(what)
      return
    }
    this.add({
      ...{ action: 'delete', stage, what: `${what}${loss}`, fields: [], source: null },
      calls: () => [{ method: 'DELETE', path }],
    })
  }
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (thrown) {
    if (thrown instanceof RefusedError && thrown.status === 404) return undefined
    throw thrown
  }
}

interface Matched<W, P> {
  /** What the files ask for, with what there is of it. */
  pairs: readonly { wanted: W; present: P | null }[]
  /** What no file names. */
  rest: readonly P[]
}

/**
 * Brings together by name what is wanted and what there is. A new name that says what it was called before stands for that.
 *
 * @param what an entry is, for messages
 * @param problems receives what is not clear: two of one name, and a renaming of which both names are there
 */
function matchByName<W extends Wanted, P>(
  what: string,
  wanted: readonly W[],
  present: readonly P[],
  nameOf: (present: P) => string,
  problems: Problem[],
): Matched<W, P> {
  const named = Map.groupBy(present, nameOf)
  const taken = new Set<P>()
  const pairs = wanted.map((one) => {
    const here = named.get(one.name) ?? []
    const before = one.renamedFrom === null ? [] : (named.get(one.renamedFrom) ?? [])
    const found = here.length > 0 ? here : before
    if (found.length > 1) {
      problems.push(
        one.source.problem(`the service has ${found.length} ${what}s of the name “${one.label}”: rename one there`),
      )
    }
    if (here.length > 0 && before.length > 0 && one.renamedFrom !== null && one.renamedFrom !== one.name) {
      const earlier = one.source.shown('renamed_from', one.renamedFrom)
      problems.push(
        one.source
          .at('renamed_from')
          .problem(`the service has both “${earlier}” and “${one.label}”: delete one, or leave out renamed_from`),
      )
    }
    const [match = null] = found
    for (const other of found) taken.add(other)
    return { wanted: one, present: match }
  })
  return { pairs, rest: present.filter((other) => !taken.has(other)) }
}
