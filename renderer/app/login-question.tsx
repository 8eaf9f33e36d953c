/** What the SSH client asks on the way to a machine, one question after another. What is typed is held by its field alone. */
import { Button, Checkbox, Group, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import type { Question } from '../../core/contract/questions.js';
import { Dialog } from '../components/dialog.js';
import { useToast } from '../components/toasts.js';
import { useHost } from '../state/desktop-context.js';
import { asRefusal, useTopic } from '../state/hooks.js';
import { common } from '../strings/common.js';
import { questions as words } from '../strings/questions.js';
import styles from './login-question.module.css';

const all = { address: null } as const;

export function LoginQuestion() {
  const host = useHost();
  const toast = useToast();
  const topic = useTopic('questions', all);
  const [answered, setAnswered] = useState<string | null>(null);
  const asked = topic.kind === 'live' ? topic.value.question : null;
  const question = asked?.id === answered ? null : asked;

  const answer = (questionId: string, text: string | null, keep: boolean) => {
    setAnswered(questionId);
    host.call('question.answer', { questionId, answer: text, keep }).catch((error: unknown) => {
      // It is still asked, if it is still there.
      setAnswered((before) => (before === questionId ? null : before));
      toast({ tone: 'error', text: asRefusal(error).message });
    });
  };

  return (
    <Dialog
      opened={question !== null}
      onClose={() => {
        if (question !== null) answer(question.id, null, false);
      }}
      title={question === null ? '' : words.title(question)}
    >
      {question === null ? null : <QuestionForm key={question.id} question={question} onAnswer={answer} />}
    </Dialog>
  );
}

interface QuestionFormProps {
  readonly question: Question;
  readonly onAnswer: (questionId: string, text: string | null, keep: boolean) => void;
}

function QuestionForm({ question, onAnswer }: QuestionFormProps) {
  const field = useRef<HTMLInputElement>(null);
  const [keep, setKeep] = useState(false);
  const asks = question.kind !== 'notice';
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (asks) onAnswer(question.id, field.current?.value ?? '', keep);
      }}
    >
      <p>{words.body(question)}</p>
      <p className={styles['text']}>{question.text}</p>
      {question.wrongBefore ? (
        <p className={styles['wrong']} role="alert">
          {words.wrongBefore}
        </p>
      ) : null}
      {asks ? (
        <TextInput
          ref={field}
          mt="md"
          type="password"
          label={words.field(question)}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      ) : null}
      {question.mayKeep ? (
        <Checkbox
          mt="md"
          label={words.keep}
          description={words.keepHint}
          checked={keep}
          onChange={(event) => {
            setKeep(event.currentTarget.checked);
          }}
        />
      ) : null}
      <Group justify="flex-end" mt="lg" gap="sm">
        <Button
          variant="default"
          onClick={() => {
            onAnswer(question.id, null, false);
          }}
        >
          {common.cancel}
        </Button>
        {asks ? <Button type="submit">{words.answer}</Button> : null}
      </Group>
    </form>
  );
}
