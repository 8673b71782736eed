import type { Kysely } from 'kysely'
import type { Change } from '../changes.ts'
import type { Tables } from '../tables.ts'

/**
 * Ids are given out in one order and committed in another: one that is missing may still turn up. This far back it is looked
 * for; management makes nowhere near as many changes while one of its transactions runs.
 */
const LOOK_BACK = 1_000

/** What management changed, read from the audit log, whose rows are committed together with the changes. */
export class ChangeLog {
  readonly #db: Kysely<Tables>
  #highest = 0
  /** Ids below the highest whose change has not been delivered. Many never will: their transactions were undone. */
  readonly #missing = new Set<number>()

  constructor(db: Kysely<Tables>) {
    this.#db = db
  }

  /** Starts after everything that is committed now. @throws StoreError */
  async start(): Promise<void> {
    const newest = await this.#db.selectFrom('audit_log').select('id').orderBy('id', 'desc').limit(LOOK_BACK).execute()
    const ids = newest.map(({ id }) => id).reverse()
    this.#highest = (ids[0] ?? 1) - 1
    for (const id of ids) this.#delivered(id)
  }

  /**
   * Hands each change since the last call to `deliver`.
   *
   * @throws StoreError, or the first of what `deliver` throws when all have been handed over; the next call repeats those that
   * failed
   */
  async read(deliver: (change: Change) => Promise<void>): Promise<void> {
    const rows = await this.#db
      .selectFrom('audit_log')
      .select(['id', 'entity', 'entity_id'])
      .where(({ eb, or }) =>
        or([eb('id', '>', this.#highest), ...(this.#missing.size === 0 ? [] : [eb('id', 'in', [...this.#missing])])]),
      )
      .orderBy('id')
      .execute()
    const failures: unknown[] = []
    for (const { id, entity, entity_id } of rows) {
      try {
        if (entity === 'client' || entity === 'site') await deliver({ kind: entity, id: entity_id })
        this.#delivered(id)
      } catch (thrown) {
        failures.push(thrown)
        this.#seen(id)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  #delivered(id: number): void {
    this.#seen(id)
    this.#missing.delete(id)
  }

  /** From now on all up to this id that have not been delivered are missing, itself included. */
  #seen(id: number): void {
    if (id <= this.#highest) return
    for (let gap = Math.max(this.#highest + 1, id - LOOK_BACK); gap <= id; gap++) this.#missing.add(gap)
    this.#highest = id
    for (const gap of this.#missing) if (gap <= id - LOOK_BACK) this.#missing.delete(gap)
  }
}
