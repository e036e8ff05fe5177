package dev.semel.trials.path;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;

/** Loads Semel again, with a call of {@link CallRecorder} at the beginning of each method of library and server. */
final class RecordingClassLoader extends ClassLoader {
    private static final String OURS = "dev.semel.";
    private static final String TRIALS = "dev.semel.trials.";
    private static final String TEMPLATES = "gg.jte.generated.";
    private static final ClassDesc RECORDER = ClassDesc.of(CallRecorder.class.getName());
    private static final MethodTypeDesc ENTER =
            MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_String, ConstantDescs.CD_String);

    RecordingClassLoader() {
        super("recording", RecordingClassLoader.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean again =
                (name.startsWith(OURS) || name.startsWith(TEMPLATES)) && !name.startsWith(CallRecorder.class.getName());
        if (!again) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream stream = getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (stream == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] plain = stream.readAllBytes();
            boolean recorded = name.startsWith(OURS) && !name.startsWith(TRIALS);
            byte[] code = recorded ? withCalls(name, plain) : plain;
            return defineClass(name, code, 0, code.length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] withCalls(String name, byte[] plain) {
        int nested = name.indexOf('$');
        String type = name.substring(OURS.length(), nested < 0 ? name.length() : nested);
        ClassFile files = ClassFile.of();
        return files.transformClass(files.parse(plain), (builder, element) -> {
            if (element instanceof MethodModel method) {
                builder.transformMethod(
                        method,
                        MethodTransform.transformingCode(
                                calling(type, method.methodName().stringValue())));
            } else {
                ClassTransform.ACCEPT_ALL.accept(builder, element);
            }
        });
    }

    private static CodeTransform calling(String type, String method) {
        return new CodeTransform() {
            @Override
            public void atStart(CodeBuilder builder) {
                builder.loadConstant(type).loadConstant(method).invokestatic(RECORDER, "enter", ENTER);
            }

            @Override
            public void accept(CodeBuilder builder, CodeElement element) {
                builder.with(element);
            }
        };
    }
}
