import { Link } from '@tanstack/react-router'
import type { StatusPage } from '../../api/status.ts'
import { duration, unbroken } from '../../lib/words.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { moment } from './sentence.ts'
import classes from './status.module.css'

/** Announced maintenance. */
export function Planned({ maintenance, now }: { maintenance: StatusPage['maintenance']; now: number }) {
  if (maintenance.length === 0) return null
  return (
    <section aria-labelledby="planned">
      <h2 id="planned" className={classes.heading}>
        Planned maintenance
      </h2>
      <ul className={classes.reasons}>
        {maintenance.map(({ site, starts_at, ends_at }) => {
          const [start, end] = [Date.parse(starts_at), Date.parse(ends_at)]
          return (
            <li key={`${site} ${starts_at}`}>
              {site ?? 'All sites'}: {start <= now ? 'now, ' : ''}
              {moment(start, now)} to {moment(end, start)} ({duration(end - start)})
            </li>
          )
        })}
      </ul>
    </section>
  )
}

/** The incidents of the last 90 days, with links to their pages. */
export function History({ token, page, now }: { token: string; page: StatusPage; now: number }) {
  const { incidents, has_older_incidents } = page
  return (
    <section aria-labelledby="history">
      <h2 id="history" className={classes.heading}>
        Incidents of the last 90 days
      </h2>
      {incidents.length === 0 ? (
        <p className={classes.text}>None.</p>
      ) : (
        <ul className={classes.history}>
          {incidents.map(({ id, site, title, severity, started_at, resolved_at, back_at }) => {
            const began = Date.parse(started_at)
            const ended = resolved_at === null ? null : Date.parse(resolved_at)
            return (
              <li key={id}>
                <StatusMark
                  status={severity}
                  size={10}
                  label={severity}
                  variant={ended === null ? 'filled' : 'outline'}
                />
                <span>
                  <Link to="/status/$token/incidents/$incidentId" params={{ token, incidentId: id }}>
                    {site}: {unbroken(title)}
                  </Link>{' '}
                  <span className={classes.muted}>
                    · {moment(began, now)} ·{' '}
                    {ended === null ? `ongoing for ${duration(now - began)}` : `lasted ${duration(ended - began)}`}
                    {back_at !== null && `, open again since ${moment(Date.parse(back_at), now)}`}
                  </span>
                </span>
              </li>
            )
          })}
        </ul>
      )}
      {has_older_incidents && <p className={classes.text}>Older ones are not listed.</p>}
      <p className={classes.note}>
        <a href={`/api/status/${token}/feed.atom`}>Atom feed of incidents</a>
      </p>
    </section>
  )
}
