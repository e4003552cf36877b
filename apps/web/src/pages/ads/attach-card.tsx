import { useEffect, useRef, useState } from 'react';
import { useMe, type Workspace } from '../../api/me.ts';
import { useCommand, type Resource } from '../../api/management.ts';
import { sendMedia } from '../../api/upload/send-media.ts';
import { refusalOf } from '../../api/upload/plan-upload.ts';
import { allowedCommands } from '../../commands/allowed.ts';
import { t } from '../../messages/messages.ts';
import { Card } from '../../parts/card.tsx';
import { Field } from '../../parts/field.tsx';
import { ProblemBanner } from '../../parts/problem.tsx';
import { usePlace } from '../../shell/place.ts';
import { tellOutcome } from './resource-actions.tsx';
import { useForms } from './type-forms.ts';

/** The upload's id, of the address under which a stored file is. */
const uploadIdIn = (fileUrl: string) => /\/(upl_[0-9a-z]{26})\//.exec(fileUrl)?.[1] ?? '';

/** Sends a file, then attaches it; what went wrong on the way, and how far it is. */
function useAttach(workspace: Workspace, creative: Resource) {
  const [share, setShare] = useState<number>();
  const [fault, setFault] = useState<unknown>(null);
  const sending = useRef<AbortController>(undefined);
  const { mutate, error } = useCommand(workspace.id, tellOutcome);
  // An upload may take long: what is sent afterwards names the version that is shown then.
  const shown = useRef(creative.version);
  shown.current = creative.version;
  useEffect(() => () => sending.current?.abort(), []);
  const attach = async (file: File) => {
    const stop = new AbortController();
    sending.current = stop;
    setFault(null);
    setShare(0);
    try {
      const url = await sendMedia(file, 'ad', {
        signal: stop.signal,
        onProgress: (sent) => setShare(sent / Math.max(1, file.size)),
      });
      const subject = { type: 'creatives', id: creative.id };
      mutate({
        type: 'creative.attach_media',
        subject,
        version: shown.current,
        changes: { upload_ref: uploadIdIn(url) },
      });
    } catch (problem) {
      if (!stop.signal.aborted) setFault(problem);
    } finally {
      setShare(undefined);
    }
  };
  return { attach, share, error: fault ?? error };
}

function Attach({ workspace, creative }: { readonly workspace: Workspace; readonly creative: Resource }) {
  const { language } = usePlace();
  const [file, setFile] = useState<File>();
  const { attach, share, error } = useAttach(workspace, creative);
  const refusal = file && refusalOf(file);
  const choose = (chosen: File | undefined) => {
    setFile(chosen);
    if (chosen && !refusalOf(chosen)) void attach(chosen);
  };
  return (
    <>
      <Field
        label={t('ads.attach_choose')}
        hint={t('ads.attach_help')}
        error={refusal && t(`upload.refused_${refusal}`)}
      >
        {(control) => (
          <input
            {...control}
            type="file"
            accept="audio/*,video/*"
            onChange={({ target }) => choose(target.files?.[0])}
          />
        )}
      </Field>
      {share !== undefined && (
        <p role="status">
          {t('ads.sent', { percent: new Intl.NumberFormat(language, { style: 'percent' }).format(share) })}
        </p>
      )}
      {error !== null && <ProblemBanner error={error} />}
    </>
  );
}

/** Where the ad's file is chosen, in the states in which a creative takes one. */
export function AttachCard({ workspace, creative }: { readonly workspace: Workspace; readonly creative: Resource }) {
  const forms = useForms('creatives');
  const own = useMe()?.ownWorkspaceId;
  const mayAttach = allowedCommands(forms, creative.lifecycle_state, workspace.roles).some(
    ({ type }) => type === 'creative.attach_media',
  );
  if (!mayAttach) return null;
  return (
    <Card title={t('field.upload_ref')}>
      {workspace.id === own ? <Attach workspace={workspace} creative={creative} /> : <p>{t('ads.attach_elsewhere')}</p>}
    </Card>
  );
}
