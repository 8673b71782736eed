import { Link } from '@tanstack/react-router'
import { type ReactNode, useId } from 'react'
import type { Today } from '../../api/today.ts'
import type { Directory } from '../../lib/use-directory.ts'
import { percent, personName, whole } from '../../lib/words.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { scopeName } from '../../ui/mute/scope.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import classes from './today.module.css'
import { momentLine, versionsWords } from './words.ts'

interface SectionProps {
  title: string
  /** Shown beside the title: what the lines are about. */
  about?: ReactNode
  children: ReactNode
}

export function Section({ title, about, children }: SectionProps) {
  const id = useId()
  return (
    <section className={classes.section} aria-labelledby={id}>
      <header className={classes.head}>
        <h2 id={id}>{title}</h2>
        {about !== undefined && <span className={classes.about}>{about}</span>}
      </header>
      {children}
    </section>
  )
}

/** Says that a section is empty. */
export const Nothing = ({ children }: { children: ReactNode }) => <p className={classes.nothing}>{children}</p>

interface InZone {
  zone: string
  directory: Directory
}

export function VersionsSection({ versions, zone, directory }: InZone & Pick<Today, 'versions'>) {
  return (
    <Section title="Versions published" about={versions.length === 0 ? undefined : versionsWords(versions.length)}>
      {versions.length === 0 ? (
        <Nothing>No container was published in the last 24 hours.</Nothing>
      ) : (
        <ul className={classes.lines}>
          {versions.map(({ site_id, at, source, from_version, to_version }) => (
            <li key={`${site_id} ${at} ${source}`}>
              <span className={classes.what}>
                <Link to="/sites/$siteId" params={{ siteId: site_id }}>
                  {directory.sites[site_id]?.name ?? 'A site'}
                </Link>
                <span className={classes.muted}>
                  {source} {from_version === null ? to_version : `${from_version} → ${to_version}`}
                </span>
              </span>
              <time dateTime={at} className={classes.when}>
                {momentLine(Date.parse(at), zone)}
              </time>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

export function QuotaSection({ quotas }: Pick<Today, 'quotas'>) {
  return (
    <Section title="Quotas running out">
      {quotas.length === 0 ? (
        <Nothing>No client has used up 80&nbsp;% of its events for this month.</Nothing>
      ) : (
        <ul className={classes.lines}>
          {quotas.map(({ client_id, name, events, limit, level }) => (
            <li key={client_id}>
              <StatusMark
                status={level === 'exceeded' ? 'critical' : 'warning'}
                label={level === 'exceeded' ? 'used up' : 'nearly used up'}
              />
              <span className={classes.what}>
                <Link to="/clients/$clientId" params={{ clientId: client_id }}>
                  {name}
                </Link>
                {level === 'exceeded' && <span className={classes.muted}>what it sends is refused</span>}
              </span>
              <span className={classes.when}>
                {percent(Math.floor((100 * events) / limit) / 100)} of {whole(limit)} events
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

export function MutedSection({ muted, zone, directory }: InZone & Pick<Today, 'muted'>) {
  return (
    <Section title="Muted" about={muted.length === 0 ? undefined : 'no notifications are sent'}>
      {muted.length === 0 ? (
        <Nothing>No silence and no maintenance is in effect.</Nothing>
      ) : (
        <>
          <ul className={classes.lines}>
            {muted.map(({ id, kind, why, subject_label, ends_at, until_resolved, ...scope }) => (
              <li key={id}>
                <span className={classes.what}>
                  <span>{why ?? (kind === 'silence' ? 'Silence' : 'Maintenance')}</span>
                  <span className={classes.muted}>
                    {kind === 'silence' ? 'Silence' : 'Maintenance'} of {scopeName(scope, directory)}
                    {subject_label !== null && ` · ${subject_label}`} · by {personName(scope.created_by)}
                  </span>
                </span>
                <span className={classes.when}>
                  {until_resolved ? 'until it is resolved' : `until ${momentLine(Date.parse(ends_at), zone)}`}
                </span>
              </li>
            ))}
          </ul>
          <p className={classes.more}>
            <TextLink to="/maintenance">Maintenance and silences</TextLink>
          </p>
        </>
      )}
    </Section>
  )
}
