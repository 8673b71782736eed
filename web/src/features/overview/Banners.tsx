import { BellRing, Gauge } from 'lucide-react'
import type { ComponentType, ReactNode } from 'react'
import type { Overview } from '../../api/overview.ts'
import { useMayChange } from '../../api/session.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import classes from './Banners.module.css'
import { noChannel, quotaWords } from './banners.ts'

/** Names clients whose events are refused, or will be soon, because the monthly quota is used up. */
export function QuotaUse({ clients }: { clients: Overview['clients_near_quota'] }) {
  return quotaWords(clients).map(({ level, words, named, more }) => (
    <Banner
      key={level}
      id={`quota-${level}`}
      tone={level === 'exceeded' ? 'critical' : 'warning'}
      icon={Gauge}
      words={words}
      named={named.map(({ id, name, used }) => ({
        id,
        link: (
          <>
            <TextLink to="/clients/$clientId" params={{ clientId: id }}>
              {name}
            </TextLink>{' '}
            {used}
          </>
        ),
      }))}
      more={more}
    />
  ))
}

/** Names clients without working notifications. */
export function NoChannel({ clients }: { clients: Overview['clients_without_channel'] }) {
  const mayChangeOf = useMayChange()
  if (clients.length === 0) return null
  const { words, named, more } = noChannel(
    clients,
    clients.some(({ id }) => mayChangeOf(id)),
  )
  const links = named.map(({ id, name }) => ({
    id,
    link: (
      <TextLink
        to="/clients/$clientId"
        params={{ clientId: id }}
        search={(mayChangeOf(id) ? { dialog: 'channel' } : {}) as object}
      >
        {name}
      </TextLink>
    ),
  }))
  return <Banner id="no-channel" tone="warning" icon={BellRing} words={words} named={links} more={more} />
}

interface BannerProps {
  /** The element's id, unique on the page. */
  id: string
  tone: 'warning' | 'critical'
  icon: ComponentType<{ size: number; 'aria-hidden': boolean }>
  words: string
  /** Links to clients. */
  named: readonly { id: string; link: ReactNode }[]
  more: number
}

/** A banner about some clients, at the top of the overview. */
function Banner({ id, tone, icon: Icon, words, named, more }: BannerProps) {
  return (
    <section className={classes.banner} data-tone={tone} aria-labelledby={id}>
      <Icon size={16} aria-hidden />
      <div className={classes.words}>
        <h2 id={id}>{words}</h2>
        <ul>
          {named.map(({ id, link }) => (
            <li key={id}>{link}</li>
          ))}
          {more > 0 && (
            <li>
              <TextLink to="/clients">and {more} more</TextLink>
            </li>
          )}
        </ul>
      </div>
    </section>
  )
}
