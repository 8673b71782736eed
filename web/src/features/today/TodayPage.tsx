import { Button, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Printer } from 'lucide-react'
import { useCallback } from 'react'
import { type Overview, overviewQuery } from '../../api/overview.ts'
import { type Today, todayQuery } from '../../api/today.ts'
import { type Directory, useDirectory } from '../../lib/use-directory.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { counted } from '../../lib/words.ts'
import { ownZone } from '../../lib/zone.ts'
import { ClientSelect } from '../../ui/ClientSelect.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { ClientErrorState } from '../../ui/States.tsx'
import { ChangesSection } from './ChangesSection.tsx'
import { NightSection } from './NightSection.tsx'
import { MutedSection, QuotaSection, VersionsSection } from './sections.tsx'
import classes from './today.module.css'
import { dateLine } from './words.ts'

/** What happened overnight, and what has changed: read at nine, or printed for a meeting. */
export function TodayPage() {
  const directory = useDirectory()
  const [client, setClient] = useUrlState('client', '')
  const { data, error, refetch } = useQuery(todayQuery(client, ownZone()))
  return (
    <div className={classes.page}>
      <PageHeader
        title="Today"
        actions={
          <>
            <ClientSelect directory={directory} client={client} onChange={setClient} />
            <Button variant="default" leftSection={<Printer size={16} aria-hidden />} onClick={() => window.print()}>
              Print
            </Button>
          </>
        }
      >
        {data === undefined ? (
          'What happened overnight, and what has changed since a week ago'
        ) : (
          <Facts today={data} client={directory.clients[client]?.name} />
        )}
      </PageHeader>
      {data !== undefined ? (
        <Loaded today={data} client={client} directory={directory} />
      ) : error !== null ? (
        <ClientErrorState
          error={error}
          client={client}
          onShowAll={() => setClient('')}
          onRetry={() => void refetch()}
        />
      ) : (
        <Stack gap="sm" aria-busy="true">
          <Skeleton height={140} radius="md" />
          <Skeleton height={240} radius="md" />
          <Skeleton height={90} radius="md" />
        </Stack>
      )}
    </div>
  )
}

/** The page's choices in words, because on paper the controls are not visible. */
function Facts({ today, client = 'All clients' }: { today: Today; client?: string | undefined }) {
  return (
    <>
      {dateLine(Date.parse(today.generated_at), today.timezone)} · {client} · {counted(today.sites, 'site')}
    </>
  )
}

function Loaded({ today, client, directory }: { today: Today; client: string; directory: Directory }) {
  const unjudged = useUnjudged(client)
  return (
    <Stack gap="sm">
      <NightSection
        sites={today.sites}
        unjudged={unjudged}
        overnight={today.overnight}
        zone={today.timezone}
        directory={directory}
      />
      <ChangesSection today={today} directory={directory} />
      <VersionsSection versions={today.versions} zone={today.timezone} directory={directory} />
      <QuotaSection quotas={today.quotas} />
      <MutedSection muted={today.muted} zone={today.timezone} directory={directory} />
    </Stack>
  )
}

/** The number of sites of a client, or of all, that no probe has judged. */
function useUnjudged(client: string): number {
  const select = useCallback(
    ({ clients }: Overview) =>
      clients
        .filter(({ id }) => client === '' || id === client)
        .flatMap(({ sites }) => sites)
        .filter(({ status }) => status === 'unknown').length,
    [client],
  )
  return useQuery({ ...overviewQuery, select }).data ?? 0
}
