import { Loader } from '@mantine/core'
import type { SiteRecord } from '../../api/site.ts'
import { TextLink } from '../../ui/LinkButton.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Checklist } from './Checklist.tsx'
import { Rejections } from './Rejections.tsx'
import { SetupStep } from './SetupStep.tsx'
import classes from './setup.module.css'

/** Listens until the site has sent something; then looks at what it sent. */
export function FirstEventStep({ site }: { site: SiteRecord }) {
  const { last_event_at } = site
  if (last_event_at === null) {
    return (
      <SetupStep number={4} title="Waiting for the first event…" state="waiting" word="listening">
        <p className={classes.listening}>
          <Loader size={16} aria-hidden="true" />
          This page listens: publish the container, or send the sample, and the event appears here within two seconds.
        </p>
        <Rejections site={site} />
      </SetupStep>
    )
  }
  return (
    <SetupStep
      number={4}
      title="Events arrive"
      state="done"
      word={
        <>
          last event <RelativeTime at={last_event_at} zone={site.timezone} />
        </>
      }
    >
      <p>
        {site.name} sends events. See{' '}
        <TextLink to="/sites/$siteId" params={{ siteId: site.id }}>
          what it sends
        </TextLink>
        , or choose{' '}
        <TextLink to="/sites/$siteId/probes" params={{ siteId: site.id }}>
          which probes watch it
        </TextLink>
        .
      </p>
      <Checklist site={site} />
      <Rejections site={site} />
    </SetupStep>
  )
}
