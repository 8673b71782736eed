import { errorResponses, type HttpApp, visibleTo } from '../../http/index.ts'
import type { Clock } from '../../lib/index.ts'
import type { Store } from '../../store/index.ts'
import { SearchAnswer, SearchQuery } from './schemas.ts'
import { search } from './search.ts'

/** Adds the search over what has a name. */
export function searchRoutes(app: HttpApp, { store, clock }: { store: Store; clock: Clock }): void {
  app.get(
    '/api/search',
    {
      config: { work: 'report', scope: 'visible' },
      schema: {
        tags: ['Dashboard'],
        summary: 'Find things by a part of their names',
        description:
          'Open incidents and alerts by title, tags and events that were sent today or yesterday, versions and annotations of the last 92 days, ' +
          'of active sites. Characters like `%` stand for themselves. After 2 s nothing further is read: `unread` names what is missing.',
        querystring: SearchQuery,
        response: { 200: SearchAnswer, ...errorResponses(400) },
      },
    },
    ({ query, access }) => search(store, visibleTo(access), query, clock.now()),
  )
}
