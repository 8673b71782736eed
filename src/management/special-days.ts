import { type Static, Type } from 'typebox'
import { errorResponses, type HttpApp, IsoTime, model, NoContent, nullable, Uuid } from '../http/index.ts'
import { AppError, DAY, invalidRequest, isoTime, newOrderedId, notFound } from '../lib/index.ts'
import type { Kysely, SpecialDayRow, Tables } from '../store/index.ts'
import { writeAudit } from './audit.ts'
import { type Context, contextOf, lockSite, type ManagementOptions } from './context.ts'
import { requireSite } from './sites.ts'

/** Half of the period that is compared with: a site whose days are all special would have no usual ones. */
const MOST_DAYS = 14
/** Limited, because every run that learns from them reads all of a site's. */
const MOST_ENTRIES = 200

const CalendarDay = (description: string) => Type.String({ format: 'date', description })
const Note = Type.String({ maxLength: 200, description: 'Name of the occasion: `Black Friday`' })

export const SpecialDaysRecord = model('SpecialDays', {
  id: Uuid,
  site_id: Uuid,
  first_day: CalendarDay("In the site's time zone"),
  last_day: CalendarDay('Equal to `first_day` for a single day'),
  note: nullable(Note),
  created_at: IsoTime,
  created_by: Type.String({ description: 'Who marked it, as in the audit log' }),
})
export type SpecialDaysRecord = Static<typeof SpecialDaysRecord>

export const MarkSpecialDays = Type.Object(
  {
    first_day: CalendarDay("In the site's time zone; past or future"),
    last_day: Type.Optional(CalendarDay(`\`first_day\` by default; at most ${MOST_DAYS} days including both`)),
    note: Type.Optional(nullable(Note)),
  },
  { additionalProperties: false },
)
export type MarkSpecialDays = Static<typeof MarkSpecialDays>

/** The marked days of a site, as calendar days in its time zone. */
export const specialDaysOf = (db: Kysely<Tables>, siteId: string): Promise<SpecialDayRow[]> =>
  db
    .selectFrom('special_days')
    .selectAll()
    .where('site_id', '=', siteId)
    .orderBy('first_day', 'desc')
    .orderBy('id')
    .execute()

/** @throws AppError `not_found`, `invalid_request` naming the fault, or `conflict` when the site has them or too many */
async function markSpecialDays(ctx: Context, siteId: string, input: MarkSpecialDays): Promise<SpecialDaysRecord> {
  const { first_day, last_day = first_day, note = null } = input
  const days = (Date.parse(last_day) - Date.parse(first_day)) / DAY + 1
  if (days < 1) throw invalidRequest('/last_day', 'must not be before first_day')
  if (days > MOST_DAYS) throw invalidRequest('/last_day', `must be at most ${MOST_DAYS - 1} days after first_day`)
  const now = ctx.clock.now()
  const row: SpecialDayRow = {
    id: newOrderedId(now),
    site_id: siteId,
    first_day,
    last_day,
    note: note?.trim() || null,
    created_at: now,
    created_by: ctx.actor,
  }
  await ctx.store.write.transaction().execute(async (trx) => {
    if ((await lockSite(trx, siteId)) === undefined) throw notFound('Site')
    const there = await specialDaysOf(trx, siteId)
    if (there.some((each) => isSame(each, row))) {
      const marked = first_day === last_day ? first_day : `${first_day} to ${last_day}`
      throw new AppError('conflict', `${marked} is already marked${row.note === null ? '' : ` as “${row.note}”`}`)
    }
    if (there.length >= MOST_ENTRIES) {
      throw new AppError('conflict', `The site has ${MOST_ENTRIES} entries: delete old ones`)
    }
    await trx.insertInto('special_days').values(row).execute()
    await writeAudit(trx, ctx, [
      { entity: 'special_days', verb: 'create', id: row.id, before: null, after: specialDaysRecord(row) },
    ])
  })
  return specialDaysRecord(row)
}

const isSame = (one: SpecialDayRow, other: SpecialDayRow): boolean =>
  one.first_day === other.first_day && one.last_day === other.last_day && one.note === other.note

/** @throws AppError `not_found` when the site has no such entry */
async function unmarkSpecialDays(ctx: Context, siteId: string, id: string): Promise<void> {
  await ctx.store.write.transaction().execute(async (trx) => {
    const row = await trx
      .deleteFrom('special_days')
      .where('id', '=', id)
      .where('site_id', '=', siteId)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) throw notFound('Special days')
    await writeAudit(trx, ctx, [
      { entity: 'special_days', verb: 'delete', id, before: specialDaysRecord(row), after: null },
    ])
  })
}

const specialDaysRecord = ({ created_at, ...row }: SpecialDayRow): SpecialDaysRecord => ({
  ...row,
  created_at: isoTime(created_at),
})

const tags = ['Sites']
const path = '/api/sites/:site_id/special-days'

export function specialDayRoutes(app: HttpApp, options: ManagementOptions): void {
  const { store } = options

  app.get(
    path,
    {
      schema: {
        tags,
        summary: "List a site's special days",
        description: 'Latest first. They are left out of what counts as usual, and only silence is judged on them.',
        params: Type.Object({ site_id: Uuid }),
        response: { 200: Type.Array(SpecialDaysRecord, { description: 'Latest first' }), ...errorResponses(404) },
      },
    },
    async ({ params: { site_id } }) => {
      await requireSite(store.read, site_id)
      return (await specialDaysOf(store.read, site_id)).map(specialDaysRecord)
    },
  )

  app.post(
    path,
    {
      schema: {
        tags,
        summary: 'Mark days of a site as special',
        description:
          'For a sale, a local holiday or a relaunch: past days are left out of what counts as usual, and on future days only silence is judged. ' +
          `409 when they are marked already under this \`note\`, or the site has ${MOST_ENTRIES} entries.`,
        params: Type.Object({ site_id: Uuid }),
        body: MarkSpecialDays,
        response: { 201: SpecialDaysRecord, ...errorResponses(404, 409) },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await markSpecialDays(contextOf(options, request), request.params.site_id, request.body)),
  )

  app.delete(
    `${path}/:special_days_id`,
    {
      schema: {
        tags,
        summary: 'Delete special days of a site',
        description: 'They count like any other days again.',
        params: Type.Object({ site_id: Uuid, special_days_id: Uuid }),
        response: { 204: NoContent, ...errorResponses(404) },
      },
    },
    async (request, reply) => {
      const { site_id, special_days_id } = request.params
      await unmarkSpecialDays(contextOf(options, request), site_id, special_days_id)
      return reply.code(204).send(null)
    },
  )
}
