import { DAY } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'

/**
 * Deletes silences, and maintenance that was once, that ended more than `days` ago: no result that is kept names them. And those
 * of probes that were deleted: the room of the probes does not know of them.
 */
export async function clearQuiet({ write }: Pick<Store, 'write'>, days: number, now: number): Promise<void> {
  for (const table of ['silences', 'maintenance'] as const) {
    await write
      .deleteFrom(table)
      .where((eb) =>
        eb.or([
          eb('ends_at', '<', now - days * DAY),
          eb.and([
            eb('probe_id', 'is not', null),
            eb('probe_id', 'not in', eb.selectFrom('probes').select('probes.id')),
          ]),
        ]),
      )
      .execute()
  }
}
