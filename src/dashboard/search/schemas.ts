import { type Static, Type } from 'typebox'
import { IsoTime, nullable, Uuid } from '../../http/index.ts'

export const SEARCH_KINDS = ['incident', 'alert', 'tag', 'event', 'version', 'annotation'] as const
export type SearchKind = (typeof SEARCH_KINDS)[number]

export const SearchQuery = Type.Object(
  {
    q: Type.String({
      minLength: 2,
      maxLength: 100,
      pattern: '\\S',
      description: 'Part of a name or a title, whatever its case',
    }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 8, description: 'Of each kind, at most' })),
  },
  { additionalProperties: false },
)
export type SearchQuery = Static<typeof SearchQuery>

const Found = Type.Object({
  kind: Type.Enum([...SEARCH_KINDS]),
  id: nullable(Type.String({ description: 'Of an incident, an alert or an annotation' })),
  label: Type.String({ description: 'The name, title or text' }),
  site_id: nullable(Type.String({ ...Uuid, description: 'Null of what is of no one site' })),
  sites: Type.Integer({
    minimum: 1,
    description: 'Of a tag or an event: sites that have it; `site_id` is one of them',
  }),
  at: nullable(IsoTime),
})
export type Found = Static<typeof Found>

export const SearchAnswer = Type.Object({
  results: Type.Array(Found, { description: 'Kind by kind, in the order of the list of kinds' }),
  unread: Type.Array(Type.Enum([...SEARCH_KINDS]), {
    description: 'Kinds for which there was no time: search for something longer',
  }),
})
export type SearchAnswer = Static<typeof SearchAnswer>
