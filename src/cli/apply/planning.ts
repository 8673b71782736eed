import type { InvitedUser } from '../../accounts/index.ts'
import { AppError } from '../../lib/index.ts'
import { type Api, type Caller, RefusedError } from './api.ts'
import type { Change, FieldChange, Limited, Ref, Stage } from './change.ts'
import type { Problem } from './problems.ts'
import { isRenamed, nameKey, problemOf, type Source, type Wanted } from './wanted.ts'

export type InvitationLink = NonNullable<InvitedUser['link']>

type Fields = Readonly<Record<string, unknown>>

/** The client, site or probe that something belongs to. */
export interface Owner {
  ref: Ref
  /** As people see it: `“Shop” (“Acme”)`. */
  name: string
  /** The field of a maintenance record that refers to it. */
  scope: 'client_id' | 'site_id' | 'probe_id'
}

interface Creation {
  what: string
  creates?: Limited
  stage: Stage
  fields?: readonly FieldChange[]
  autoProbes?: number
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
  /** The record on which the plan is based, and the names of its fields that change. */
  record: Fields
  names: readonly string[]
  body: Fields
  fields: readonly FieldChange[]
  /** Reads the record again. */
  read: () => Promise<Fields | undefined>
  /** The list of those among which its name must be the only one of its kind. */
  among?: string
}

interface Options {
  api: Api
  caller: Caller
  /** The plan of a client that is created without one; null when it is not known. */
  defaultPlan: string | null
  /** Whether to delete what no file names, in the lists that a file gives. */
  prune: boolean
  /** Epoch ms. */
  now: number
  /** The logo that a file gives, as base64; null removes the logo, undefined when the file gives none. */
  logoOf: (source: Source) => string | null | undefined
  /** Called when a person has been invited, while the plan is carried out. */
  onInvited?: (email: string, link: InvitationLink) => void
}

/** Collects the changes of a plan. */
export class Planning {
  readonly changes: Change[] = []
  readonly kept: string[] = []
  readonly problems: Problem[] = []
  /** The clients after the plan, by the key of their name; several when the service has two of that name. */
  readonly clients = new Map<string, Ref[]>()
  /** Labels of the files' clients, by the same. */
  readonly #labels = new Map<string, string>()
  readonly api: Api
  readonly now: number
  readonly logoOf: Options['logoOf']
  readonly onInvited: Options['onInvited']
  readonly prune: boolean
  readonly caller: Caller
  readonly defaultPlan: string | null

  constructor({ api, caller, defaultPlan, prune, now, logoOf, onInvited }: Options) {
    this.api = api
    this.caller = caller
    this.defaultPlan = defaultPlan
    this.now = now
    this.logoOf = logoOf
    this.onInvited = onInvited
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
    const key = nameKey(name)
    this.clients.set(key, [...(this.clients.get(key) ?? []), ref])
    this.#labels.set(key, label)
  }

  labelOf(client: string): string {
    return this.#labels.get(client) ?? client
  }

  /** Notes what the service would refuse. @param work throws the AppError of its rules */
  check<T>(source: Source, work: () => T): T | null {
    try {
      return work()
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown
      this.problems.push(...thrown.details.map((detail) => problemOf(source, detail)))
      return null
    }
  }

  add(change: Change): void {
    this.changes.push(change)
  }

  create({ path, body, ...of }: Creation): void {
    this.add({
      action: 'create',
      fields: [],
      ...of,
      calls: () => [{ method: 'POST', path, body: body(), onlyNew: true }],
    })
  }

  /** Adds nothing when nothing differs. */
  update({ path, record, names, body, fields, read, among, ...of }: Update): void {
    if (fields.length === 0) return
    const seen = (found: Fields | undefined) => found && Object.fromEntries(names.map((name) => [name, found[name]]))
    this.add({
      ...{ action: 'update', ...of, fields },
      calls: () => [{ method: 'PATCH', path, body }],
      recheck: {
        basis: { seen: seen(record), isTaken: false },
        read: async () => ({
          seen: seen(await unlessGone(read())),
          isTaken:
            among !== undefined &&
            names.includes('name') &&
            (await this.api.get<Fields[]>(among)).some(({ id, name }) => name === body.name && id !== record.id),
        }),
      },
    })
  }

  /** Deletes or keeps something that no file names. @param loss what is deleted with it, for people */
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
  /** Each wanted entry with its present counterpart. Its name is the stored one when both have one key, so that nothing is renamed. */
  pairs: readonly { wanted: W; present: P | null }[]
  /** What no file names. */
  rest: readonly P[]
}

/**
 * Matches wanted and present entries by name. An entry with `renamedFrom` also matches that name.
 *
 * @param what the kind of entry, for messages
 * @param problems receives ambiguities: two entries of one name, and a renaming when both names exist
 */
function matchByName<W extends Wanted, P>(
  what: string,
  wanted: readonly W[],
  present: readonly P[],
  nameOf: (present: P) => string,
  problems: Problem[],
): Matched<W, P> {
  const named = Map.groupBy(present, (other) => nameKey(nameOf(other)))
  const taken = new Set<P>()
  const pairs = wanted.map((one) => {
    const here = named.get(nameKey(one.name)) ?? []
    const before = isRenamed(one) ? (named.get(nameKey(one.renamedFrom)) ?? []) : []
    const found = here.length > 0 ? here : before
    if (found.length > 1) {
      problems.push(
        one.source.problem(`the service has ${found.length} ${what}s with the name “${one.label}”: rename one there`),
      )
    }
    if (here.length > 0 && before.length > 0 && isRenamed(one)) {
      const earlier = one.source.shown('renamed_from', one.renamedFrom)
      problems.push(
        one.source
          .at('renamed_from')
          .problem(`the service has both “${earlier}” and “${one.label}”: delete one, or leave out renamed_from`),
      )
    }
    const [match = null] = found
    for (const other of found) taken.add(other)
    const [same = null] = here
    return { wanted: same === null ? one : { ...one, name: nameOf(same) }, present: match }
  })
  return { pairs, rest: present.filter((other) => !taken.has(other)) }
}
