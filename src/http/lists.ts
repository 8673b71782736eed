import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { invalidRequest } from '../lib/index.ts'
import { sendJson } from './compression.ts'
import { linkNextPage, MAX_PAGE, type Page, pageOf, Uuid } from './schemas.ts'

/**
 * Records that are read and written at a time: 500 probes take 10 ms. The 14,000 of a thousand sites at once kept every other
 * request waiting for 260 ms (30 November 2026).
 */
const PER_PART = 500

/** Query parameters of a list that is complete unless it is asked for in pages. */
export const ListPages = {
  after: Type.Optional(Type.String({ ...Uuid, description: 'Only records that follow the one with this id' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_PAGE,
      description: 'Maximum number of records; all if it is left out. `Link: <…>; rel="next"` leads to the next ones',
    }),
  ),
}

/** The same as the whole query. */
export const ListQuery = Type.Object(ListPages, { additionalProperties: false })
export type ListQuery = Static<typeof ListQuery>

/** Cuts the fetched records, one more than `limit` where there are more, to a page of their ids; without a limit they are all on it. */
export const pageOfIds = (fetched: readonly { id: string }[], limit = fetched.length): Page<string> =>
  pageOf(
    fetched.map(({ id }) => id),
    limit,
    (id) => id,
  )

/**
 * Answers with the records of a page, and with the link to the next one in the headers.
 *
 * @param recordsOf see `jsonInParts`
 */
export async function sendRecords<T extends object>(
  request: FastifyRequest,
  reply: FastifyReply & Parameters<typeof sendJson<T[], unknown>>[0],
  { entries, next }: Page<string>,
  recordsOf: (ids: readonly string[]) => Promise<readonly T[]>,
): Promise<void> {
  linkNextPage(request, reply, next, 'after')
  await sendJson(reply, await jsonInParts(entries, recordsOf))
}

/**
 * Returns records as a JSON array. Others have their turn after each part.
 *
 * @param recordsOf reads a part of them, in this order; a record that was deleted meanwhile is left out
 */
export async function jsonInParts(
  ids: readonly string[],
  recordsOf: (ids: readonly string[]) => Promise<readonly object[]>,
): Promise<string> {
  const parts: string[] = []
  for (let start = 0; start < ids.length; start += PER_PART) {
    const records = await recordsOf(ids.slice(start, start + PER_PART))
    if (records.length > 0) parts.push(JSON.stringify(records).slice(1, -1))
  }
  return `[${parts.join(',')}]`
}

/** @param what the name of a record: `a site` */
export const unknownAfter = (what: string) =>
  invalidRequest('/after', `is not the id of ${what}: begin again without it`)
