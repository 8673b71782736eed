import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { isReached, type Overview, overviewQuery } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { LinkButton, TextLink } from '../../ui/LinkButton.tsx'
import { SetupStep } from './KeyStep.tsx'

/** Sets up notifications, the last step and the one most often forgotten. */
export function NotifyStep({ site }: { site: SiteRecord }) {
  const { mayChange } = useSession()
  const hasChannel = useHasChannel(site.client_id)
  const { client_id: clientId } = site
  if (hasChannel === undefined) return null
  return (
    <SetupStep
      number={5}
      title="Notifications"
      state={hasChannel ? 'done' : 'open'}
      word={hasChannel ? 'ready' : site.last_event_at === null ? 'later' : 'next'}
    >
      {hasChannel ? (
        <p>
          Its client has a channel. Send a test message to see whether it arrives, or change who is notified, on{' '}
          <TextLink to="/clients/$clientId" params={{ clientId }}>
            the page of the client
          </TextLink>
          .
        </p>
      ) : (
        <>
          <p>
            No one is notified when {site.name} breaks: its client has no channel yet, such as a chat or an e-mail
            address.
          </p>
          {mayChange ? (
            <div>
              <LinkButton
                to="/clients/$clientId"
                params={{ clientId }}
                search={{ dialog: 'channel' } as object}
                variant="default"
              >
                Add a channel
              </LinkButton>
            </div>
          ) : (
            <p>An editor of the client can add one.</p>
          )}
        </>
      )}
    </SetupStep>
  )
}

/** Whether a site's client has working notifications; undefined while unknown, and for a paused client. */
function useHasChannel(clientId: string): boolean | undefined {
  const select = useCallback(
    (overview: Overview) =>
      overview.clients.some(({ id }) => id === clientId) ? isReached(overview, clientId) : undefined,
    [clientId],
  )
  return useQuery({ ...overviewQuery, select }).data
}
