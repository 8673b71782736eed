import { useNavigate } from '@tanstack/react-router'
import { useCreateClient } from '../../api/clients.ts'
import { useSession } from '../../api/session.ts'
import { MayNotChange } from '../../ui/MayNotChange.tsx'
import { PageHeader } from '../../ui/PageHeader.tsx'
import { ClientForm } from './ClientForm.tsx'
import { EMPTY_CLIENT } from './client-values.ts'
import classes from './form.module.css'

export function NewClientPage() {
  const { mayChange } = useSession()
  const create = useCreateClient()
  const navigate = useNavigate()
  return (
    <div className={classes.page}>
      <PageHeader title="New client" parents={[{ label: 'Clients & sites', to: '/clients' }]}>
        A company or project. Its sites send under one plan, and its team is notified when something breaks.
      </PageHeader>
      {mayChange ? (
        <ClientForm
          initial={EMPTY_CLIENT}
          action="Create the client"
          cancelTo="/clients"
          onSave={async (body) => {
            const { id } = await create.mutateAsync(body)
            await navigate({ to: '/clients/$clientId', params: { clientId: id } })
          }}
        />
      ) : (
        <MayNotChange />
      )}
    </div>
  )
}
