import { useQuery } from '@tanstack/react-query'
import { Radar } from 'lucide-react'
import type { ReactNode } from 'react'
import { clientsQuery } from '../api/clients.ts'
import { useMayChange, useSession } from '../api/session.ts'
import { LinkButton } from './LinkButton.tsx'
import { EmptyState } from './States.tsx'

interface Props {
  title: string
  /** Says what would be here, and how it depends on sites. */
  children: ReactNode
}

/** Shown where nothing can be before there is a site, with a button to add one. */
export function NoSites({ title, children }: Props) {
  return (
    <EmptyState icon={Radar} title={title} action={<AddSite />}>
      {children}
    </EmptyState>
  )
}

/** A button to add a site to the only client, or one to choose, or to add a client first; renders nothing for viewers. */
function AddSite() {
  const { mayAddClients } = useSession()
  const mayChangeOf = useMayChange()
  const { data } = useQuery(clientsQuery)
  const [first, second] = (data ?? []).filter(({ id }) => mayChangeOf(id))
  if (data === undefined) return null
  if (first === undefined) return mayAddClients && <LinkButton to="/clients/new">Create a client</LinkButton>
  if (second !== undefined) return <LinkButton to="/clients">Choose a client to add a site</LinkButton>
  return (
    <LinkButton to="/clients/$clientId/sites/new" params={{ clientId: first.id }}>
      Add a site
    </LinkButton>
  )
}

/** Shown instead of probes, or of a probe's form, when there is no site. */
export function NoSitesToProbe() {
  return (
    <NoSites title="No site, so nothing to check">
      A probe checks one thing of one site, again and again: whether its tag server answers, whether its events still
      come.
    </NoSites>
  )
}
