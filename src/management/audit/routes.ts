import { Type } from 'typebox'
import { errorResponses, type HttpApp, linkNextPage, seesSecrets } from '../../http/index.ts'
import type { ManagementOptions } from '../context.ts'
import { listAudit } from './list.ts'
import { AuditQuery, AuditRecord } from './schemas.ts'

export function auditRoutes(app: HttpApp, { store }: ManagementOptions): void {
  app.get(
    '/api/audit',
    {
      schema: {
        tags: ['Audit'],
        summary: 'List changes',
        description:
          'Who changed what, newest first, with the fields that changed; secrets are masked. ' +
          'A `Link` header with `rel="next"` leads to older entries.',
        querystring: AuditQuery,
        response: { 200: Type.Array(AuditRecord, { description: 'Newest first' }), ...errorResponses(400) },
      },
    },
    async (request, reply) => {
      const page = await listAudit(store, request.query, seesSecrets(request.access))
      linkNextPage(request, reply, page.next)
      return page.entries
    },
  )
}
