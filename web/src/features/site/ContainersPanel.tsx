import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Note } from './Note.tsx'
import { Panel } from './Panel.tsx'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'

/** Which containers ever sent something, and when last; and what makes the report less precise than it looks. */
export function ContainersPanel() {
  const { report, site } = useSite()
  return (
    <Panel title="Containers" unit="that ever sent something">
      {report.containers.length === 0 ? (
        <Note height={80}>No container has sent anything yet.</Note>
      ) : (
        <ul className={classes.containers}>
          {report.containers.map(({ container_id, last_seen }) => (
            <li key={container_id}>
              <code>{container_id}</code>
              <span className={classes.muted}>
                <RelativeTime at={last_seen} zone={site.timezone} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
