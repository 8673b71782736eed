import type { ReportContext } from '../analytics/index.ts'
import { errorResponses, type HttpApp, visibleTo } from '../http/index.ts'
import { Changes } from './changes.ts'
import { Today, TodayQuery } from './schemas.ts'
import { today } from './today.ts'

/** Adds what the page of the morning shows. */
export function todayRoutes(app: HttpApp, context: ReportContext): void {
  const changes = new Changes(context)
  app.get(
    '/api/today',
    {
      // It reads two days of all sites once an hour.
      config: { work: 'report', scope: 'visible' },
      schema: {
        tags: ['Dashboard'],
        summary: 'What a morning wants to know',
        description:
          'Incidents since 18:00 of the day before, what changed most in the last 24 whole hours against the same hours a week before ' +
          '(beyond what it varies by itself), versions that were published, quotas near their end, and what is muted.',
        querystring: TodayQuery,
        response: { 200: Today, ...errorResponses(400, 404) },
      },
    },
    ({ query, access }) => today(context, changes, visibleTo(access), query),
  )
}
