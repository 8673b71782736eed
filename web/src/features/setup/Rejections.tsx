import { useQuery } from '@tanstack/react-query'
import { recentQuery } from '../../api/analytics.ts'
import type { SiteRecord } from '../../api/site.ts'
import { whole } from '../../lib/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { adviceOf, groupsOf, type RejectionGroup } from './rejections.ts'
import classes from './setup.module.css'

/** Refused requests, why, and what to do. They are no values: a place in the payload at most. */
export function Rejections({ site }: { site: SiteRecord }) {
  const { data } = useQuery(recentQuery(site.id))
  const groups = groupsOf(data?.rejections ?? [])
  if (groups.length === 0) return null
  return (
    <section className={classes.block} aria-labelledby="rejections">
      <h3 id="rejections">Refused requests</h3>
      <p className={classes.muted}>
        From the last 50. Requests with an unknown key belong to no site and are not included.
      </p>
      <ul className={classes.rejections}>
        {groups.map((group) => (
          <Row key={group.key} group={group} zone={site.timezone} />
        ))}
      </ul>
    </section>
  )
}

function Row({ group, zone }: { group: RejectionGroup; zone: string }) {
  const { what, todo } = adviceOf(group)
  return (
    <li>
      <span className={classes.count}>{whole(group.count)}×</span>
      <div>
        <b>{what}</b> {group.path !== '' && <code className={classes.code}>{group.path}</code>}
        <p>{todo}</p>
      </div>
      <span className={classes.when}>
        <RelativeTime at={group.lastAt} zone={zone} />
      </span>
    </li>
  )
}
